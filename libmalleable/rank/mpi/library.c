/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * library.c: identify the MPI library by its own version text.
 *
 * Invariant: nothing is believed of a library that nobody knows (t/t2010-compatibility.t).
 */
#include "libmalleable/rank/mpi/library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "libmalleable/rank/mpi/next.h"

/*
 * MPI_COMM_WORLD where handles are ints (MPICH), in Open MPI's Fortran (mpif-config.h), and in the
 * standard (MPI 5.0, A.1.3).
 */
#define MPICH_COMM_WORLD 0x44000000
#define OPEN_MPI_FORTRAN_COMM_WORLD 0
#define STANDARD_COMM_WORLD 0x101
/* MPICH's MPI_MAX_LIBRARY_VERSION_STRING, the largest. */
#define LONGEST_VERSION 8192

static bool follows_the_standard(void)
{
	int (*abi_version)(int *, int *);
	int major = -1, minor = -1;

	*(void **)&abi_version = mal_mpi_find("MPI_Abi_get_version");
	return abi_version && abi_version(&major, &minor) == 0 && major >= 1;
}

static bool is_like_mpich(const char *version)
{
	return strstr(version, "MPICH") || strstr(version, "Intel(R) MPI") ||
	       strstr(version, "MVAPICH");
}

/* By its version, else by its file: libraries of stubs, and such before MPI 3, have no version. */
static void name_library(struct mal_mpi_library *library, const char *version)
{
	size_t length = strcspn(version, ",\n");
	Dl_info file;

	if (strspn(version, " \t\r") < length) {
		snprintf(library->name, sizeof(library->name), "%.*s", (int)length, version);
		return;
	}
	if (!dladdr(mal_mpi_find("MPI_Init"), &file) || !file.dli_fname || !*file.dli_fname)
		file.dli_fname = "unnamed";
	snprintf(library->name, sizeof(library->name), "%s", basename(file.dli_fname));
}

void mal_mpi_look_at_library(struct mal_mpi_library *library)
{
	static char version[LONGEST_VERSION];
	int (*get_version)(char *, int *), length = 0;
	void *open_mpi_world;

	*(void **)&get_version = mal_mpi_find("PMPI_Get_library_version");
	if (!get_version || get_version(version, &length) != 0)
		version[0] = '\0';
	name_library(library, version);
	library->intel = strstr(version, "Intel(R) MPI") != NULL;
	library->over_ucx = strstr(version, "ch4:ucx") != NULL;
	if (follows_the_standard()) {
		library->kind = MAL_MPI_STANDARD;
		library->world = STANDARD_COMM_WORLD;
		library->fortran_world = STANDARD_COMM_WORLD;
	} else if (is_like_mpich(version)) {
		library->kind = MAL_MPI_MPICH;
		library->world = MPICH_COMM_WORLD;
		library->fortran_world = MPICH_COMM_WORLD;
	} else if ((open_mpi_world = mal_mpi_find("ompi_mpi_comm_world"))) {
		/* If the executable has a copy of this object, all use that one. */
		library->kind = MAL_MPI_OPEN;
		library->world = (mpi_word)open_mpi_world;
		library->fortran_world = OPEN_MPI_FORTRAN_COMM_WORLD;
	}
}
