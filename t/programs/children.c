/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * children.c: how many CPUs a program sees and its children get after a parallel region. Prints a
 * line "WAY COUNT" for each way to ask or to start them. A program that is called children prints
 * the CPUs of its own process only.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
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

static sem_t told;

static void notified(union sigval way)
{
	say(way.sival_ptr, count());
	sem_post(&told);
}

/* STARTED: a thread of the C library tells, as EVENT has it. */
static void await(int started)
{
	while (started == 0 && sem_wait(&told) < 0 && errno == EINTR)
		;
}

#define BY(way) \
	(struct sigevent) \
	{ \
		.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified, \
		.sigev_value.sival_ptr = (way) \
	}

/* Those that the C library makes by internal names. */
static void start_threads_of_libc(void)
{
	struct itimerspec soon = {.it_value.tv_nsec = 1000000};
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
	struct gaicb look_up = {.ar_name = "127.0.0.1", .ar_request = &hints};
	struct sigevent event = BY("timer_create");
	struct mq_attr small = {.mq_maxmsg = 1, .mq_msgsize = 1};
	static char byte;
	int file = open("/dev/zero", O_RDONLY);
	struct aiocb read = {.aio_fildes = file,
			     .aio_buf = &byte,
			     .aio_nbytes = 1,
			     .aio_sigevent = BY("aio_read")},
		     listed = read;
	char name[64];
	timer_t timer;
	mqd_t queue;

	sem_init(&told, 0, 0);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		await(timer_settime(timer, 0, &soon, NULL));
	await(aio_read(&read));
	event = BY("lio_listio");
	listed.aio_sigevent.sigev_notify = SIGEV_NONE;
	await(lio_listio(LIO_NOWAIT, (struct aiocb *[]){&listed}, 1, &event));
	event = BY("getaddrinfo_a");
	await(getaddrinfo_a(GAI_NOWAIT, (struct gaicb *[]){&look_up}, 1, &event));
	snprintf(name, sizeof(name), "/children-%d", (int)getpid());
	queue = mq_open(name, O_CREAT | O_RDWR, 0600, &small);
	event = BY("mq_notify");
	if (queue == (mqd_t)-1)
		return;
	mq_unlink(name);
	if (mq_notify(queue, &event) == 0)
		await(mq_send(queue, "", 1, 0));
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
	start_threads_of_libc();
	say("after", count());
	MPI_Finalize();
	return 0;
}
