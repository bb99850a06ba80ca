/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spawn.c: starts a second copy of itself by MPI_Comm_spawn, adds up numbers with it, and ends. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	MPI_Comm parent, all;
	int value = 1, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL) {
		MPI_Comm children;

		MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
			       &children, MPI_ERRCODES_IGNORE);
		MPI_Intercomm_merge(children, 0, &all);
	} else {
		MPI_Intercomm_merge(parent, 1, &all);
		value = 40;
	}
	MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, all);
	if (parent == MPI_COMM_NULL)
		printf("sum %d\n", sum);
	MPI_Comm_free(&all);
	MPI_Finalize();
	return 0;
}
