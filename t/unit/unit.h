/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* unit.h: what every cmocka test includes, in the order that cmocka wants. */
#ifndef MAL_T_UNIT_H
#define MAL_T_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
