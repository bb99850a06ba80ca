/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * outside.c: outside HOW FILE: until FILE exists, in each phase rank 0 is outside MPI and regions
 * for 20 ms: it waits for a byte from a child process (pipe), in clFinish for a device whose kernel
 * sleeps (device, if built with -DOPENCL), or computes alone (serial): named region "outside". Then
 * all run a region; "all" ends with the program. Rank 0 prints whether what came of it is right.
 * Without arguments: succeeds if there is a device.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compute.h"

#define MALLEABLE_DLOPEN
#include "libmalleable/malleable.h"

static int to_child[2], from_child[2];

static void start_child(void)
{
	char byte;

	if (pipe(to_child) < 0 || pipe(from_child) < 0)
		abort();
	if (fork() == 0) {
		close(to_child[1]);
		while (read(to_child[0], &byte, 1) == 1 && usleep(20000) == 0 &&
		       write(from_child[1], "x", 1) == 1)
			;
		_exit(0);
	}
	close(to_child[0]);
}

static int ask_child(void)
{
	char byte = 0;

	return write(to_child[1], "a", 1) == 1 && read(from_child[0], &byte, 1) == 1 && byte == 'x';
}

#ifdef OPENCL
/* Declared here, as its headers need not be installed. */
int clGetPlatformIDs(uint32_t, void **, uint32_t *);
int clGetDeviceIDs(void *, uint64_t, uint32_t, void **, uint32_t *);
void *clCreateContext(const void *, uint32_t, void **, void *, void *, int *);
void *clCreateCommandQueue(void *, void *, uint64_t, int *);
int clEnqueueNativeKernel(void *, void (*)(void *), void *, size_t, uint32_t, const void *,
			  const void **, uint32_t, const void *, void *);
int clFinish(void *);

static void *queue;
static volatile int kernels;

static void kernel(void *nothing)
{
	(void)nothing;
	usleep(20000);
	kernels++;
}

static void open_device(void)
{
	void *platform, *device, *context;
	int error = 0;

	if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, 2, 1, &device, NULL)) {
		exit(1);
	}
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	queue = clCreateCommandQueue(context, device, 0, &error);
	if (error)
		abort();
}

static int use_device(void)
{
	int before = kernels, nothing = 0;

	return !clEnqueueNativeKernel(queue, kernel, &nothing, sizeof(nothing), 0, NULL, NULL, 0,
				      NULL, NULL) &&
	       !clFinish(queue) && kernels == before + 1;
}
#endif

static int serial(void)
{
	compute_for(0.02);
	return 1;
}

int main(int argc, char **argv)
{
	int (*outside)(void) = serial;
	int rank, level, on = 1, right = 1, part;

#ifdef OPENCL
	if (argc == 1) {
		open_device();
		return 0;
	}
#endif
	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "pipe") == 0) {
		start_child();
		outside = ask_child;
	}
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef OPENCL
	if (strcmp(argv[1], "device") == 0 && rank == 0) {
		open_device();
		outside = use_device;
	}
#endif
	malleable_region_begin(malleable_region("all"));
	part = malleable_region("outside");
	while (on) {
		malleable_region_begin(part);
		if (rank == 0)
			right &= outside();
		malleable_region_end(part);
#pragma omp parallel
		compute_for(1e-3);
		on = access(argv[2], F_OK) != 0;
		MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	if (rank == 0)
		puts(right ? "right" : "wrong");
	return 0;
}
