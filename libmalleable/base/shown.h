/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shown.h: functions of a library of ours that a program calls by names of OpenMP or MPI, and that
 * no search by name alone finds: programs conclude from a name whether a runtime is there.
 *
 * Such a symbol has a version that is not the default one. ld.so takes it for a reference to that
 * version, or, where it is the library's first, to none; dlsym() takes no such symbol (glibc,
 * elf/dl-lookup.c, check_match()). Tests that have no version script keep the plain names.
 */
#ifndef MAL_BASE_SHOWN_H
#define MAL_BASE_SHOWN_H

#ifdef PIC
/* Behind a function's declaration: what the object file calls NAME, a string. */
#define MAL_SHOWN(name) __asm__("mal_" name)
/* How it is shown: as NAME of VERSION, and of OTHER. */
#define MAL_SHOWN_AS(name, version) __asm__(".symver mal_" name ", " name "@" version)
#define MAL_SHOWN_AS_TOO(name, other) \
	__asm__(".globl mal_too_" name "\n\t.set mal_too_" name ", mal_" name "\n\t" \
		".symver mal_too_" name ", " name "@" other)
#else
#define MAL_SHOWN(name)
#define MAL_SHOWN_AS(name, version) _Static_assert(sizeof(name version) > 1, "")
#define MAL_SHOWN_AS_TOO(name, other) _Static_assert(sizeof(name other) > 1, "")
#endif

#endif
