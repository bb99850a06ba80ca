/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* unit.h: included by every cmocka test, with headers in the order that cmocka needs. */
#ifndef MAL_T_UNIT_H
#define MAL_T_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
