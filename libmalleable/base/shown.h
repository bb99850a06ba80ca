/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shown.h: functions of a library of ours that a program calls by names of OpenMP or MPI, and that
 * no search by name alone finds: programs conclude from a name whether a runtime is there.
 *
 * Such a symbol has a version that is not the default one. ld.so takes it for a reference to that
 * version, or, where it is the library's first, to none; dlsym() takes no such symbol (glibc,
 * elf/dl-lookup.c, check_match()). Tests that have no version script keep the plain names.
 */
#pragma once

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

/*
 * Define a function of OpenMP, NAME in C and NAME_ in Fortran, with PARAMETERS and body each, and
 * show both as of LLVM's version; then also as of GCC's, VERSION.
 */
#define MAL_SHOWN_BOTH_ONCE(type, name, c_parameters, c_body, fortran_parameters, fortran_body) \
	type name c_parameters MAL_SHOWN(#name); \
	type name##_ fortran_parameters MAL_SHOWN(#name "_"); \
	type name c_parameters \
	{ \
		c_body; \
	} \
	type name##_ fortran_parameters \
	{ \
		fortran_body; \
	} \
	MAL_SHOWN_AS(#name, "VERSION"); \
	MAL_SHOWN_AS(#name "_", "VERSION")
#define MAL_SHOWN_BOTH(type, name, version, c_parameters, c_body, fortran_parameters, \
		       fortran_body) \
	MAL_SHOWN_BOTH_ONCE(type, name, c_parameters, c_body, fortran_parameters, fortran_body); \
	MAL_SHOWN_AS_TOO(#name, version); \
	MAL_SHOWN_AS_TOO(#name "_", version)
