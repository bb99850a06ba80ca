/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cores.c: virtual cores: cgroups, the threads that keep them busy, the ticker, the load balancer.
 */
#include "cores.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A virtual core's turn on its real CPU. */
#define TURN_NS 500000L
#define CALIBRATE_NS 300000000L
/*
 * Weights of a core that waits for its turn, that has it, and of all of them in EVEN of EVEN_EVERY
 * turns. At each change Linux 6.18 multiplies what it owes to a core (place_entity() in
 * kernel/sched/fair.c), and may let one run for minutes; with the same weights it pays off.
 */
#define WAITS "2"
#define HAS_TURN "10000"
#define LIKE_ALL "1000"
#define EVEN 24
#define EVEN_EVERY 512
/*
 * Rounds until the thread that keeps a core busy yields, some microseconds: a thread of the program
 * that yields would find it in its place for a tick otherwise, and on a real core nobody.
 */
#define STAY 4096

struct vnode_cores {
	struct vnode_table *table;
	char root[64];	/* the node's cgroup */
	char above[80]; /* of the cores' cgroups, in which turns are shared out */
	bool threaded;	/* cgroup v2 */
	unsigned int groups, real_count;
	unsigned int real[VNODE_MAX_CORES];
	int weight[VNODE_MAX_CORES]; /* of each group: its cgroup's file */
	struct timespec begin;	     /* of the first turn, on all real CPUs */
	unsigned int started;
	pthread_t burner[VNODE_MAX_CORES];
	unsigned int ticking;
	pthread_t ticker[VNODE_MAX_CORES];
	atomic_bool stop;
};

struct place {
	struct vnode_cores *cores;
	unsigned int number;
};

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t put = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return put < 0 ? -1 : 0;
}

static void group_path(const struct vnode_cores *cores, unsigned int number, const char *file,
		       char *path, size_t size)
{
	snprintf(path, size, "%s/%u%s%s", cores->above, number, *file ? "/" : "", file);
}

static void pin_to(unsigned int real)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	CPU_SET(real, &mask);
	sched_setaffinity(0, sizeof(mask), &mask);
}

/* Ask for short turns. Kernels before 6.12 ignore that, and need it less. */
static void ask_short_turns(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attributes = {.size = sizeof(attributes), .policy = SCHED_IDLE, .runtime = TURN_NS};

	syscall(SYS_sched_setattr, 0, &attributes, 0);
}

static void *burn(void *data)
{
	struct place *place = data;
	struct vnode_cores *cores = place->cores;
	struct sched_param none = {0};
	char path[160], text[32];

	pin_to(cores->real[place->number % cores->real_count]);
	group_path(cores, place->number, cores->threaded ? "cgroup.threads" : "tasks", path,
		   sizeof(path));
	snprintf(text, sizeof(text), "%ld", syscall(SYS_gettid));
	if (write_text(path, text) < 0)
		fprintf(stderr, "vnode: cannot enter %s: %s\n", path, strerror(errno));
	sched_setscheduler(0, SCHED_IDLE, &none);
	ask_short_turns();
	free(place);
	while (!atomic_load_explicit(&cores->stop, memory_order_relaxed)) {
		for (unsigned int i = 0; i < STAY; i++)
			__asm__ volatile("" ::: "memory");
		sched_yield();
	}
	return NULL;
}

/* Give the real CPU to core NUMBER, let others go before it, or let it have its part of time. */
static int set_weight(const struct vnode_cores *cores, unsigned int number, const char *weight)
{
	return pwrite(cores->weight[number], weight, strlen(weight), 0) < 0 ? -1 : 0;
}

/* Give all of them on real CPU REAL the same. */
static void set_weights(const struct vnode_cores *cores, unsigned int real, const char *weight)
{
	for (unsigned int i = real; i < cores->groups; i += cores->real_count)
		set_weight(cores, i, weight);
}

/* Turns since the first one began. */
static unsigned long count_turns(const struct vnode_cores *cores)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long)((now.tv_sec - cores->begin.tv_sec) * 1000000000L + now.tv_nsec -
			       cores->begin.tv_nsec) /
	       TURN_NS;
}

static struct timespec turn_begin(const struct vnode_cores *cores, unsigned long turn)
{
	unsigned long ns = (unsigned long)cores->begin.tv_nsec + turn * TURN_NS;

	return (struct timespec){cores->begin.tv_sec + (time_t)(ns / 1000000000L),
				 (long)(ns % 1000000000L)};
}

/* The turn passes from HAS to NEXT on real CPU NUMBER; as many as there are turns: all are even. */
static void change_turn(struct vnode_cores *cores, unsigned int number, unsigned int has,
			unsigned int next)
{
	unsigned int turns = cores->groups / cores->real_count;

	if (next == has)
		return;
	if (has == turns || next == turns)
		set_weights(cores, number, next == turns ? LIKE_ALL : WAITS);
	else
		set_weight(cores, has * cores->real_count + number, WAITS);
	if (next != turns)
		set_weight(cores, next * cores->real_count + number, HAS_TURN);
}

static void *tick(void *data)
{
	struct place *place = data;
	struct vnode_cores *cores = place->cores;
	struct sched_param first = {.sched_priority = 1};
	unsigned int number = place->number, turns = cores->groups / cores->real_count;
	unsigned int has = turns;
	struct timespec time;

	pin_to(cores->real[number]);
	free(place);
	if (turns == 1)
		return NULL;
	if (sched_setscheduler(0, SCHED_FIFO, &first) < 0) {
		fprintf(stderr, "vnode: no real-time priority, turns will be longer: %s\n",
			strerror(errno));
		return NULL;
	}
	while (!atomic_load_explicit(&cores->stop, memory_order_relaxed)) {
		unsigned long turn = count_turns(cores);
		unsigned int next = turn % EVEN_EVERY < EVEN ? turns : (unsigned int)(turn % turns);

		change_turn(cores, number, has, next);
		has = next;
		time = turn_begin(cores, turn + 1);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
	}
	return NULL;
}

static int start_thread(struct vnode_cores *cores, void *(*run)(void *), unsigned int number,
			pthread_t *thread)
{
	struct place *place = malloc(sizeof(*place));
	int failed;

	if (!place)
		return -1;
	*place = (struct place){cores, number};
	failed = pthread_create(thread, NULL, run, place);
	if (failed) {
		free(place);
		errno = failed;
		return -1;
	}
	return 0;
}

/* Remove empty cgroups of nodes whose vnode command was killed. */
static void remove_stale(const char *base)
{
	DIR *directory = opendir(base);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char path[384];
		int pid;

		if (sscanf(entry->d_name, "vnode-%d", &pid) != 1 || kill(pid, 0) == 0 ||
		    errno != ESRCH)
			continue;
		for (unsigned int i = 0; i < VNODE_MAX_CORES; i++) {
			snprintf(path, sizeof(path), "%s/%s/cores/%u", base, entry->d_name, i);
			rmdir(path);
		}
		snprintf(path, sizeof(path), "%s/%s/cores", base, entry->d_name);
		rmdir(path);
		snprintf(path, sizeof(path), "%s/%s", base, entry->d_name);
		rmdir(path);
	}
	if (directory)
		closedir(directory);
}

static int find_hierarchy(struct vnode_cores *cores)
{
	const char *base = "/sys/fs/cgroup/cpu";

	if (access("/sys/fs/cgroup/cpu/tasks", W_OK) < 0) {
		base = "/sys/fs/cgroup";
		cores->threaded = true;
		if (access("/sys/fs/cgroup/cgroup.controllers", R_OK) < 0) {
			fputs("vnode: no cgroup hierarchy with the cpu controller: needs root and "
			      "cgroup v1 or v2\n",
			      stderr);
			return -1;
		}
		write_text("/sys/fs/cgroup/cgroup.subtree_control", "+cpu");
	}
	remove_stale(base);
	snprintf(cores->root, sizeof(cores->root), "%s/vnode-%d", base, getpid());
	snprintf(cores->above, sizeof(cores->above), "%s/cores", cores->root);
	return 0;
}

static int pass_cpu_on(const char *group)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", group);
	return write_text(path, "+cpu");
}

static int make_groups(struct vnode_cores *cores)
{
	char path[160], text[32];

	if (mkdir(cores->root, 0755) < 0 || mkdir(cores->above, 0755) < 0)
		return -1;
	if (cores->threaded) {
		/*
		 * Processes are in the node's cgroup, their threads in the threaded ones of the
		 * cores below.
		 */
		snprintf(path, sizeof(path), "%s/cgroup.procs", cores->root);
		snprintf(text, sizeof(text), "%d", getpid());
		if (write_text(path, text) < 0)
			return -1;
		snprintf(path, sizeof(path), "%s/cgroup.type", cores->above);
		if (write_text(path, "threaded") < 0)
			return -1;
	}
	for (unsigned int i = 0; i < cores->groups; i++) {
		group_path(cores, i, "", path, sizeof(path));
		if (mkdir(path, 0755) < 0)
			return -1;
		group_path(cores, i, "cgroup.type", path, sizeof(path));
		if (cores->threaded && write_text(path, "threaded") < 0)
			return -1;
	}
	return cores->threaded ? pass_cpu_on(cores->root) | pass_cpu_on(cores->above) : 0;
}

/* All cores are alike until the tickers start. */
static int share_turns_out(struct vnode_cores *cores)
{
	char path[160];

	if (cores->groups == cores->real_count)
		return 0;
	for (unsigned int i = 0; i < cores->groups; i++) {
		group_path(cores, i, cores->threaded ? "cpu.weight" : "cpu.shares", path,
			   sizeof(path));
		cores->weight[i] = open(path, O_WRONLY | O_CLOEXEC);
		if (cores->weight[i] < 0 || set_weight(cores, i, LIKE_ALL) < 0)
			return -1;
	}
	clock_gettime(CLOCK_MONOTONIC, &cores->begin);
	return 0;
}

static double seconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Measure the CPU time that a core really gets: the ticker and the kernel take some. */
static double calibrate(const struct vnode_cores *cores)
{
	struct timespec wait = {0, CALIBRATE_NS};
	double used = 0, begin;
	clockid_t clock;

	nanosleep(&wait, NULL);
	begin = seconds(CLOCK_MONOTONIC);
	for (int sign = -1; sign <= 1; sign += 2) {
		for (unsigned int i = 0; i < cores->groups; i++) {
			pthread_getcpuclockid(cores->burner[i], &clock);
			used += sign * seconds(clock);
		}
		if (sign < 0)
			nanosleep(&wait, NULL);
	}
	return (seconds(CLOCK_MONOTONIC) - begin) * cores->groups / used;
}

struct vnode_cores *vnode_cores_create(struct vnode_table *table, unsigned int count,
				       unsigned int slots)
{
	struct vnode_cores *cores = calloc(1, sizeof(*cores));
	cpu_set_t mask;

	if (!cores)
		return NULL;
	cores->table = table;
	sched_getaffinity(0, sizeof(mask), &mask);
	for (unsigned int i = 0; i < CPU_SETSIZE && cores->real_count < VNODE_MAX_CORES; i++)
		if (CPU_ISSET(i, &mask))
			cores->real[cores->real_count++] = i;
	cores->groups =
		slots ? slots * cores->real_count
		      : (count + cores->real_count - 1) / cores->real_count * cores->real_count;
	if (count > cores->groups || cores->groups > VNODE_MAX_CORES) {
		fprintf(stderr, "vnode: %u cores do not fit into %u parts of %u CPUs\n", count,
			slots, cores->real_count);
		free(cores);
		return NULL;
	}
	if (find_hierarchy(cores) < 0 || make_groups(cores) < 0 || share_turns_out(cores) < 0) {
		fprintf(stderr, "vnode: cannot create the cgroups in %s: %s\n", cores->root,
			strerror(errno));
		goto error;
	}
	table->cores = count;
	for (unsigned int i = 0; i < count; i++) {
		table->real[i] = cores->real[i % cores->real_count];
		group_path(cores, i, cores->threaded ? "cgroup.threads" : "tasks", table->tasks[i],
			   sizeof(table->tasks[i]));
	}
	for (; cores->started < cores->groups; cores->started++)
		if (start_thread(cores, burn, cores->started, &cores->burner[cores->started]) < 0)
			goto error;
	for (; cores->ticking < cores->real_count; cores->ticking++)
		if (start_thread(cores, tick, cores->ticking, &cores->ticker[cores->ticking]) < 0)
			goto error;
	table->cpu_time_scale = calibrate(cores);
	return cores;
error:
	vnode_cores_destroy(cores);
	return NULL;
}

/*
 * Call SEE for each thread of the program on core NUMBER, not for the burners, which are threads of
 * this process.
 */
static unsigned int each_thread(const struct vnode_cores *cores, unsigned int number,
				void (*see)(struct vnode_cores *, unsigned int, pid_t, void *),
				void *data)
{
	FILE *file = fopen(cores->table->tasks[number], "re");
	unsigned int seen = 0;
	int tid;

	while (file && fscanf(file, "%d", &tid) == 1) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/task/%d", tid);
		if (access(path, F_OK) == 0)
			continue;
		seen++;
		see((struct vnode_cores *)cores, number, tid, data);
	}
	if (file)
		fclose(file);
	return seen;
}

struct crowd {
	unsigned int runnable[VNODE_MAX_CORES];
	/* a runnable thread of each core that may use other cores */
	pid_t movable[VNODE_MAX_CORES];
};

static bool runs(pid_t tid)
{
	char path[64], text[256], *end;
	FILE *file;
	size_t got;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	got = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[got] = 0;
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'R';
}

static void count_runnable(struct vnode_cores *cores, unsigned int number, pid_t tid, void *data)
{
	struct crowd *crowd = data;

	if ((uint32_t)tid >= cores->table->threads || !runs(tid))
		return;
	crowd->runnable[number]++;
	if (vnode_mask_weight(&cores->table->thread[tid].mask) > 1)
		crowd->movable[number] = tid;
}

static void move_thread(struct vnode_cores *cores, pid_t tid, unsigned int to)
{
	struct vnode_table *table = cores->table;
	cpu_set_t mask;
	char text[32];

	CPU_ZERO(&mask);
	CPU_SET(table->real[to], &mask);
	snprintf(text, sizeof(text), "%d", tid);
	if (sched_setaffinity(tid, sizeof(mask), &mask) < 0 ||
	    write_text(table->tasks[to], text) < 0)
		return;
	atomic_store(&table->thread[tid].place, to + 1);
}

void vnode_cores_balance(struct vnode_cores *cores)
{
	struct vnode_table *table = cores->table;
	struct crowd crowd = {{0}, {0}};

	if (!atomic_load(&table->movable))
		return;
	for (unsigned int i = 0; i < table->cores; i++)
		each_thread(cores, i, count_runnable, &crowd);
	for (unsigned int from = 0; from < table->cores; from++) {
		pid_t tid = crowd.movable[from];
		struct vnode_mask *mask = &table->thread[tid].mask;

		for (unsigned int to = 0; tid && crowd.runnable[from] > 1 && to < table->cores;
		     to++) {
			if (!vnode_mask_has(mask, to) || crowd.runnable[to])
				continue;
			move_thread(cores, tid, to);
			crowd.runnable[from]--;
			crowd.runnable[to]++;
			break;
		}
	}
}

static void kill_thread(struct vnode_cores *cores, unsigned int number, pid_t tid, void *data)
{
	(void)cores;
	(void)number;
	(void)data;
	kill(tid, SIGKILL);
}

void vnode_cores_destroy(struct vnode_cores *cores)
{
	struct timespec pause = {0, 10000000};
	char path[160], text[32];

	if (!cores)
		return;
	for (unsigned int i = 0; i < cores->table->cores; i++)
		for (int tries = 0; tries < 200 && each_thread(cores, i, kill_thread, NULL);
		     tries++)
			nanosleep(&pause, NULL);
	atomic_store(&cores->stop, true);
	for (unsigned int i = 0; i < cores->started; i++)
		pthread_join(cores->burner[i], NULL);
	for (unsigned int i = 0; i < cores->ticking; i++)
		pthread_join(cores->ticker[i], NULL);
	if (cores->threaded) {
		snprintf(text, sizeof(text), "%d", getpid());
		write_text("/sys/fs/cgroup/cgroup.procs", text);
	}
	for (unsigned int i = 0; i < cores->groups; i++) {
		if (cores->weight[i] > 0)
			close(cores->weight[i]);
		group_path(cores, i, "", path, sizeof(path));
		for (int tries = 0; tries < 100 && rmdir(path) < 0 && errno == EBUSY; tries++)
			nanosleep(&pause, NULL);
	}
	rmdir(cores->above);
	rmdir(cores->root);
	free(cores);
}
