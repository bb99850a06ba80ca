/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* library.h: identify the MPI library before touching any of its handles. */
#pragma once

#include <stdbool.h>

#include "libmalleable/rank/mpi/words.h"

enum mal_mpi_kind {
	MAL_MPI_UNKNOWN, /* its handles are unknown */
	MAL_MPI_OPEN,	 /* Open MPI and its derivatives: handles are addresses */
	/* MPICH's ABI (MPICH, Intel MPI, MVAPICH, Cray; mpich.org/abi): handles are ints */
	MAL_MPI_MPICH,
	/* the standard's ABI (MPI 5.0, ch. 20): handles are small numbers as addresses */
	MAL_MPI_STANDARD,
};

struct mal_mpi_library {
	enum mal_mpi_kind kind;
	mpi_word world;	   /* MPI_COMM_WORLD in C */
	int fortran_world; /* MPI_COMM_WORLD in Fortran */
	bool intel;
	bool over_ucx; /* MPICH over UCX (device ch4:ucx) */
	char name[64]; /* the version text up to the first comma, else the file */
};

/* Fill LIBRARY from MPI_Get_library_version() and MPI_Abi_get_version(). Touches no handle. */
void mal_mpi_look_at_library(struct mal_mpi_library *library);
