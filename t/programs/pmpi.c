/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pmpi.c: another tool that interposes MPI calls: counts barriers and prints their number at the
 * end.
 */
#include <mpi.h>
#include <stdio.h>

static int barriers;

int MPI_Barrier(MPI_Comm comm)
{
	barriers++;
	return PMPI_Barrier(comm);
}

int MPI_Finalize(void)
{
	fprintf(stderr, "pmpi: %d barriers\n", barriers);
	return PMPI_Finalize();
}
