/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * children.c: how many CPUs a program sees and its children get after a parallel region. Prints a
 * line "WAY COUNT" for each way to ask or to start them. A program that is called children prints
 * the CPUs of its own process only.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

extern char **environ;
static char *program;

/* Number of CPUs of the calling thread, from the kernel. */
static int count(void)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	syscall(SYS_sched_getaffinity, 0, sizeof(mask), &mask);
	return CPU_COUNT(&mask);
}

static void say(const char *way, int cpus)
{
	printf("%s %d\n", way, cpus);
	fflush(stdout);
}

static void *in_pthread(void *way)
{
	say(way, count());
	return NULL;
}

static int in_thrd(void *way)
{
	say(way, count());
	return 0;
}

static void start_threads(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	thrd_t c11;
	cpu_set_t mask;

	pthread_create(&thread, NULL, in_pthread, "pthread_create");
	pthread_join(thread, NULL);
	thrd_create(&c11, in_thrd, "thrd_create");
	thrd_join(c11, NULL);
	CPU_ZERO(&mask);
	sched_getaffinity(0, sizeof(mask), &mask);
	for (int cpu = 0, kept = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &mask) && kept++)
			CPU_CLR(cpu, &mask);
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(mask), &mask);
	pthread_create(&thread, &attributes, in_pthread, "pthread_attr");
	pthread_join(thread, NULL);
}

/* Wait for the child PID. */
static void end(pid_t pid)
{
	while (pid > 0 && waitpid(pid, NULL, 0) < 0)
		;
}

static void start_processes(void)
{
	char command[4096];
	pid_t pid;
	FILE *pipe;

	snprintf(command, sizeof(command), "%s system", program);
	if (system(command))
		puts("system failed");
	snprintf(command, sizeof(command), "%s popen", program);
	pipe = popen(command, "w");
	if (pipe)
		pclose(pipe);
	if (posix_spawn(&pid, program, NULL, NULL, (char *[]){program, "posix_spawn", NULL},
			environ) == 0)
		end(pid);
	if (posix_spawnp(&pid, program, NULL, NULL, (char *[]){program, "posix_spawnp", NULL},
			 environ) == 0)
		end(pid);
	pid = fork();
	if (pid == 0) {
		say("fork", count());
		_exit(0);
	}
	end(pid);
	pid = vfork();
	if (pid == 0) {
		execl(program, program, "vfork", (char *)NULL);
		_exit(1);
	}
	end(pid);
	pid = vfork();
	if (pid == 0) {
		execle(program, program, "execle", (char *)NULL, environ);
		_exit(1);
	}
	end(pid);
}

int main(int argc, char **argv)
{
	cpu_set_t mask;

	program = argv[0];
	if (argc > 1) {
		say(argv[1], count());
		return 0;
	}
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 200; i++) {
#pragma omp parallel
		usleep(1000);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	say("kernel", count());
	CPU_ZERO(&mask);
	sched_getaffinity(0, sizeof(mask), &mask);
	say("sched_getaffinity", CPU_COUNT(&mask));
	CPU_ZERO(&mask);
	sched_getaffinity(getpid(), sizeof(mask), &mask);
	say("sched_getaffinity(pid)", CPU_COUNT(&mask));
	CPU_ZERO(&mask);
	pthread_getaffinity_np(pthread_self(), sizeof(mask), &mask);
	say("pthread_getaffinity", CPU_COUNT(&mask));
	start_processes();
	start_threads();
	say("after", count());
	MPI_Finalize();
	return 0;
}
