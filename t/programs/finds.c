/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * finds.c: prints which functions of OpenMP, MPI and devices are there, by weak references and by
 * name, and in which library. Built without either, or as a program with MPI.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int omp_get_max_threads(void) __attribute__((weak));
double omp_get_wtime(void) __attribute__((weak));
int MPI_Barrier(void *) __attribute__((weak));
int mpi_barrier_(int *) __attribute__((weak));
int (*barrier)(void *) = MPI_Barrier;
int clFinish(void *) __attribute__((weak));
int cudaDeviceSynchronize(void) __attribute__((weak));
#ifdef MPI
int MPI_Init(int *, char ***);
int MPI_Finalize(void);
#endif

int main(int argc, char **argv)
{
	static const char *const names[] = {"omp_get_max_threads",
					    "omp_set_num_threads",
					    "omp_get_wtime",
					    "GOMP_parallel",
					    "__kmpc_fork_call",
					    "MPI_Init",
					    "MPI_Barrier",
					    "MPI_Session_init",
					    "mpi_barrier_",
					    "ucp_worker_progress",
					    "clFinish",
					    "cudaDeviceSynchronize"};
	Dl_info info;

	(void)argc;
	(void)argv;
	printf("weakly: %d %d %d %d %d %d %d\n", omp_get_max_threads != NULL, omp_get_wtime != NULL,
	       MPI_Barrier != NULL, mpi_barrier_ != NULL, barrier != NULL, clFinish != NULL,
	       cudaDeviceSynchronize != NULL);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (dladdr(dlsym(RTLD_DEFAULT, names[i]), &info))
			printf("%s: %s\n", names[i], strrchr(info.dli_fname, '/'));
#ifdef MPI
	MPI_Init(&argc, &argv);
	MPI_Finalize();
#endif
	printf("end\n");
	return 0;
}
