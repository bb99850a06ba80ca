/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* unit.h: included by every cmocka test, with headers in the order that cmocka needs. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Version 2 warns of names that version 1 has alone. */
#undef CMOCKA_DEPRECATION_WARNING
#define CMOCKA_DEPRECATION_WARNING(text)
