/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sized.c: ranks meet in collective calls with counts of type MPI_Count alone, and rank 1, with a
 * third of the work, waits there. What the linker made read-only is so afterwards, too.
 */
#define _GNU_SOURCE
#include <link.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#define TIMES 30

static double compute(int thousands)
{
	double sum = 0;

#pragma omp parallel for schedule(dynamic, 1) reduction(+ : sum)
	for (int i = 0; i < thousands; i++)
		for (int j = 0; j < 1000; j++)
			sum += 1.0 / (1.0 + i + j);
	return sum;
}

/* Whether a page from BEGIN to END can be written. */
static int is_writable(uintptr_t begin, uintptr_t end)
{
	unsigned long from, to;
	char access[8], line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	int found = !maps;

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3 && from < end &&
		    to > begin)
			found |= access[1] == 'w';
	if (maps)
		fclose(maps);
	return found;
}

/* The program itself is the first object. */
static int look(struct dl_phdr_info *info, size_t size, void *nothing)
{
	(void)size;
	(void)nothing;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = (begin + info->dlpi_phdr[i].p_memsz) & ~(uintptr_t)4095;

		if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO && begin < end &&
		    is_writable(begin, end))
			puts("writable");
	}
	return 1;
}

int main(int argc, char **argv)
{
	int rank, one = 1, all = 0, total = 0;
	double sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < TIMES; i++) {
		sum += compute(rank ? 2000 : 6000);
		MPI_Allreduce_c(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		total += all;
	}
	dl_iterate_phdr(look, NULL);
	if (rank == 0 && sum > 0)
		printf("total %d\n", total);
	MPI_Finalize();
	return 0;
}
