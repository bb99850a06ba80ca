/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* next.c: the next definition of an MPI function behind ours, and MPI's start. */
#include "libmalleable/rank/mpi/next.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/rank/wait.h"

/* The library is preloaded into every program of the step, most of which have no MPI. */
#ifdef OPEN_MPI
#pragma weak ompi_mpi_comm_world
#endif

static int world_size;

/* Open MPI's switch for calling sched_yield() between polls. */
#define YIELD_WHEN_IDLE "OMPI_MCA_mpi_yield_when_idle"

void *mal_mpi_next(const char *name)
{
	/* A program that loads MPI privately (Python's mpi4py) has it in no global scope. */
	static const char *const libraries[] = {"libmpi.so.40", "libmpi.so.12", "libmpi_mpifh.so.40",
						"libmpifort.so.12"};
	void *function = dlsym(RTLD_NEXT, name);

	for (size_t i = 0; !function && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

		if (library)
			function = dlsym(library, name);
	}
	if (!function) {
		fprintf(stderr, "balance: the program calls %s, but no loaded MPI library has it\n", name);
		exit(1);
	}
	return function;
}

/* The number of ranks in COMM, 0 if it has none. */
static int size_of(MPI_Comm comm)
{
	static int (*comm_size)(MPI_Comm, int *);
	int size;

	if (!comm_size)
		*(void **)&comm_size = mal_mpi_next("PMPI_Comm_size");
	return comm_size(comm, &size) == MPI_SUCCESS ? size : 0;
}

bool mal_mpi_is_world(MPI_Comm comm)
{
	return comm == MPI_COMM_WORLD || size_of(comm) == world_size;
}

bool mal_mpi_is_world_fortran(const MPI_Fint *comm)
{
	static MPI_Comm (*f2c)(MPI_Fint);

	if (!f2c)
		*(void **)&f2c = mal_mpi_next("PMPI_Comm_f2c");
	return mal_mpi_is_world(f2c(*comm));
}

void mal_mpi_before_init(void)
{
	setenv(YIELD_WHEN_IDLE, "1", 0);
}

void mal_mpi_after_init(void)
{
	const char *yields = getenv(YIELD_WHEN_IDLE);

	world_size = size_of(MPI_COMM_WORLD);
	mal_mpi_init(yields && *yields == '1');
}
