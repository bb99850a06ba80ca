/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * readable.h: names of C++ functions, as people write them.
 *
 * For texts of a process's own, or of files that its user named, never as root: one name may take
 * 0.1 s and 20 MB.
 */
#pragma once

#include <stddef.h>

/* abi::__cxa_demangle() of the C++ ABI. */
typedef char *mal_demangle(const char *name, char *buffer, size_t *size, int *status);

/*
 * That of a C++ library which the process has, or of GCC's, with FLAGS beside RTLD_LAZY. NULL: none
 * is there.
 */
mal_demangle *mal_demangler(int flags);

/*
 * Copy TEXT to OUT, of SIZE bytes, with each name as DEMANGLE has it, but for types: "ns::f<int>(A
 * const&)" is "ns::f". What the compiler put behind a name stays. DEMANGLE may be NULL. What is too
 * long ends at a blank, with "...". Returns OUT.
 */
const char *mal_make_readable(mal_demangle *demangle, const char *text, char *out, size_t size);
