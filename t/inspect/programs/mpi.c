// SPDX-License-Identifier: LGPL-2.1-or-later
/* MPI calls. Libraries: mpi. */
#include "corpus.h"
#include "libraries.h"
enum { N = 100 };
static double a[N], there, here = 7;
static int rank = -1;

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for schedule(static) /* bound: mpi, shown */
	for (int i = 0; i < 2; i++)
		if (i == 0)
			MPI_Recv(&there, 1);
		else
			MPI_Send(&here, 1);
#pragma omp parallel for /* bound: mpi */
	for (int i = 0; i < n; i++) {
		int mine;

		MPI_Comm_rank(0, &mine);
		a[i] = mine;
	}
#pragma omp parallel /* bound: mpi */
	{
#pragma omp master
		MPI_Comm_rank(0, &rank);
#pragma omp barrier
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] += rank;
	}
	corpus_add(a, sizeof(a));
	corpus_number(there + rank);
	return corpus_end();
}
