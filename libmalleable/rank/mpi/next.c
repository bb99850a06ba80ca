/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* next.c: the next definition of an MPI function behind ours, and MPI's start. */
#include "libmalleable/rank/mpi/next.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/rank/wait.h"

/* Open MPI's switch for calling sched_yield() between polls. */
#define YIELD_WHEN_IDLE "OMPI_MCA_mpi_yield_when_idle"
/* MPI_COMM_WORLD where handles are ints: in C and in Fortran (MPICH ABI); and in Open MPI's Fortran (mpif-config.h). */
#define MPICH_COMM_WORLD 0x44000000u
#define OPEN_MPI_FORTRAN_COMM_WORLD 0

static struct {
	void *open_mpi;			   /* address of Open MPI's world communicator, NULL: another MPI */
	int size;			   /* of the world */
	int (*comm_size)(mpi_word, int *); /* NULL: MPI has not been initialised */
	mpi_word (*comm_f2c)(int);	   /* Open MPI */
	int (*iprobe)(int, int, mpi_word, int *, void *);
} mpi;

/* From SCOPE on. A program that loads MPI privately (Python's mpi4py) has it in no global scope. */
static void *find(void *scope, const char *name)
{
	static const char *const libraries[] = {"libmpi.so.40",	      "libmpi.so.12",		"libmpich.so.12",
						"libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libmpifort.so.12",
						"libmpichfort.so.12"};
	void *object = dlsym(scope, name);

	for (size_t i = 0; !object && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

		if (library)
			object = dlsym(library, name);
	}
	return object;
}

void *mal_mpi_next(const char *name)
{
	void *function = find(RTLD_NEXT, name);

	if (!function) {
		fprintf(stderr, "balance: the program calls %s, but no loaded MPI library has it\n", name);
		exit(1);
	}
	return function;
}

static void get_to_know(void)
{
	if (mpi.comm_size)
		return;
	/* An executable may have a copy of this object, which then is the one that all use. */
	mpi.open_mpi = find(RTLD_DEFAULT, "ompi_mpi_comm_world");
	if (mpi.open_mpi)
		*(void **)&mpi.comm_f2c = mal_mpi_next("PMPI_Comm_f2c");
	*(void **)&mpi.iprobe = mal_mpi_next("PMPI_Iprobe");
	*(void **)&mpi.comm_size = mal_mpi_next("PMPI_Comm_size");
}

static int size_of(mpi_word comm)
{
	int size = 0;

	return mpi.comm_size(comm, &size) == 0 ? size : 0;
}

bool mal_mpi_is_world(mpi_word comm)
{
	if (mpi.open_mpi ? comm == (mpi_word)mpi.open_mpi : (uint32_t)comm == MPICH_COMM_WORLD)
		return true;
	return mpi.comm_size && size_of(comm) == mpi.size;
}

bool mal_mpi_is_world_fortran(const int *comm)
{
	if (!mpi.open_mpi)
		return mal_mpi_is_world((mpi_word)*comm);
	return *comm == OPEN_MPI_FORTRAN_COMM_WORLD || mal_mpi_is_world(mpi.comm_f2c(*comm));
}

static mpi_word world(void)
{
	return mpi.open_mpi ? (mpi_word)mpi.open_mpi : MPICH_COMM_WORLD;
}

/* A look for a message from rank 0 with tag 0: valid in every world, and taken by nobody here. */
void mal_mpi_progress(void)
{
	uint64_t status[16];
	int found;

	if (mpi.iprobe)
		mpi.iprobe(0, 0, world(), &found, status);
}

void mal_mpi_before_init(void)
{
	setenv(YIELD_WHEN_IDLE, "1", 0);
}

void mal_mpi_after_init(void)
{
	const char *yields = getenv(YIELD_WHEN_IDLE);

	get_to_know();
	mpi.size = size_of(world());
	if (mpi.open_mpi)
		mal_mpi_init(yields && *yields == '1' ? MAL_MPI_POLLS_YIELD : MAL_MPI_POLLS_UNSEEN);
	else
		mal_mpi_init(dlsym(RTLD_NEXT, "ucp_worker_progress") ? MAL_MPI_POLLS_SEEN : MAL_MPI_POLLS_UNSEEN);
}
