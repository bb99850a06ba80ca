/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * listen.c: listen FILE: an unbalanced program whose rank 0 listens to PMIx events about changes of
 * CPUs, like a tool, until FILE exists.
 */
#include <mpi.h>
#include <pmix.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* See balance(7). */
#define EVENT (PMIX_EXTERNAL_ERR_BASE - 77)

static void hear(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
		 size_t count, pmix_info_t results[], size_t results_count,
		 pmix_event_notification_cbfunc_fn_t done, void *context)
{
	(void)id;
	(void)status;
	(void)results;
	(void)results_count;
	for (size_t i = 0; i < count; i++)
		if (strcmp(info[i].key, "malleable.cpus") == 0 && info[i].value.type == PMIX_STRING)
			printf("rank %u has CPUs %s\n", source->rank, info[i].value.data.string);
	fflush(stdout);
	done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, context);
}

int main(int argc, char **argv)
{
	pmix_status_t code = EVENT;
	pmix_proc_t me;
	double sum = 0;
	int rank, on = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0 && (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS ||
			  PMIx_Register_event_handler(&code, 1, NULL, 0, hear, NULL, NULL) < 0))
		fputs("rank 0 cannot listen\n", stderr);
	else if (rank == 0)
		puts("rank 0 listens");
	fflush(stdout);
	while (on) {
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
		for (int chunk = 0; chunk < 64; chunk++)
			for (int k = 0; k < (rank == 0 ? 400000 : 40000); k++)
				sum += 1.0 / (k + chunk + 1);
		if (rank == 0)
			on = argc == 2 && access(argv[1], F_OK) != 0;
		MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	if (rank == 0)
		PMIx_Finalize(NULL, 0);
	if (sum < 0)
		puts("never");
	MPI_Finalize();
	return 0;
}
