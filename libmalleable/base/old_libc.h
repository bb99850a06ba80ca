/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * old_libc.h: included by the compiler before each file, so that what is built loads with glibc
 * 2.34 too, as in a container.
 *
 * From 2.38 on glibc's headers give strtol(3), scanf(3) and the like new names with _GNU_SOURCE.
 */
#pragma once

#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0
