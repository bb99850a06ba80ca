/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stress_word.c: many processes (or threads) lend, borrow, grant, release, reclaim, move and die on
 * the same words. Invariant 1 is checked at every step: a CPU has at most one user.
 *
 * Usage: stress_word [SECONDS [WORKERS [threads]]]. With processes, one of them is killed
 * repeatedly at a random moment, and its CPUs are recovered as by the controller. With threads,
 * ThreadSanitizer can watch.
 *
 * The check: each word has the rank that is really on the CPU beside it. A new user enters itself
 * there and must find it empty; an owner that evicts a borrower makes it leave first, as with real
 * threads.
 *
 * Beside that each rank has a CPU that it grants to regions of others, and opens and closes some:
 * no CPU may stay with a rank whose region is over.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/core/cpuword.h"
#include "libmalleable/core/request.h"

#define CPUS 8
#define MAX_WORKERS 64

struct shared {
	struct {
		_Alignas(64) mal_word word;
		_Alignas(64) _Atomic uint32_t occupant;
	} cpu[CPUS];
	_Atomic uint64_t steps;
	_Atomic uint64_t grants;
	_Atomic uint64_t violations;
	_Atomic bool stop;
	/* What ranks grant, and to whom the rank of the CPU's number knows that it stays so. */
	struct mal_header header;
	struct mal_request_slot requests[MAX_WORKERS];
	struct mal_rank_slot ranks[MAX_WORKERS];
	struct mal_cpu_slot granted[MAX_WORKERS];
	_Atomic unsigned int stays[MAX_WORKERS];
	uint32_t seen_changes[MAX_WORKERS];
};

static struct shared *shared;
static struct mal_segment segment;

static void violation(const char *what, unsigned int me, int cpu, uint32_t found)
{
	if (atomic_fetch_add(&shared->violations, 1) < 10)
		printf("# %s: rank %u on CPU %d found %u\n", what, me, cpu, found);
}

/* We became the user: no rank may be on the CPU. */
static void enter(unsigned int me, int cpu)
{
	uint32_t expected = MAL_NOBODY;

	if (!atomic_compare_exchange_strong(&shared->cpu[cpu].occupant, &expected, me))
		violation("entered a CPU in use", me, cpu, expected);
}

/*
 * We stop using the CPU, before the word says so. If we were the borrower an evictor may have been
 * faster.
 */
static void leave(unsigned int me, int cpu, bool borrowed)
{
	uint32_t expected = me;

	if (!atomic_compare_exchange_strong(&shared->cpu[cpu].occupant, &expected, MAL_NOBODY) &&
	    !borrowed)
		violation("left a CPU of another", me, cpu, expected);
}

/* The owner sends the borrower away, anywhere between its CAS and its entering. */
static void evict(unsigned int borrower, int cpu)
{
	uint32_t expected = borrower;

	atomic_compare_exchange_strong(&shared->cpu[cpu].occupant, &expected, MAL_NOBODY);
}

/*
 * Borrow as the library does: win the word, publish the thread's place, look at the word again. An
 * owner that reclaims in between either sees the thread or is seen by it.
 */
static void borrow(unsigned int me, int cpu)
{
	uint32_t expected = MAL_NOBODY;

	if (!mal_word_borrow(&shared->cpu[cpu].word, me))
		return;
	if (!atomic_compare_exchange_strong(&shared->cpu[cpu].occupant, &expected, me)) {
		/* Another rank is there: right only if the word is no longer ours. */
		if (mal_word_read(&shared->cpu[cpu].word).user == me)
			violation("borrowed a CPU in use", me, cpu, expected);
		return;
	}
	if (mal_word_read(&shared->cpu[cpu].word).user != me)
		evict(me, cpu);
}

static void give_back(unsigned int me, int cpu)
{
	if (mal_word_read(&shared->cpu[cpu].word).user != me ||
	    mal_word_read(&shared->cpu[cpu].word).owner == me)
		return;
	leave(me, cpu, true);
	mal_word_release(&shared->cpu[cpu].word, me);
}

static void take_back(unsigned int me, int cpu)
{
	mal_word *word = &shared->cpu[cpu].word;
	struct mal_cpu_state before = mal_word_read(word);
	unsigned int borrower;
	struct timespec pause = {0, 100};

	if (before.owner != me || !before.lent)
		return;
	borrower = mal_word_reclaim(word, me);
	/* The permitted overlap: until the borrower, seen or unseen, has left the CPU. */
	for (int i = 0; i < 100000; i++) {
		uint32_t expected = MAL_NOBODY;

		if (borrower != MAL_NOBODY)
			evict(borrower, cpu);
		if (atomic_compare_exchange_strong(&shared->cpu[cpu].occupant, &expected, me))
			return;
		nanosleep(&pause, NULL);
	}
	violation("could not take back", me, cpu, atomic_load(&shared->cpu[cpu].occupant));
}

static void lend(unsigned int me, int cpu)
{
	struct mal_cpu_state state = mal_word_read(&shared->cpu[cpu].word);

	if (state.owner != me || state.user != me)
		return;
	leave(me, cpu, false);
	mal_word_lend(&shared->cpu[cpu].word, me);
}

static void move(unsigned int me, int cpu, unsigned int to)
{
	struct mal_cpu_state state = mal_word_read(&shared->cpu[cpu].word);

	if (state.owner != me || state.user != me || to == me)
		return;
	leave(me, cpu, false);
	mal_word_move(&shared->cpu[cpu].word, me, to);
}

static void take(unsigned int me, int cpu)
{
	if (mal_word_take(&shared->cpu[cpu].word, me))
		enter(me, cpu);
}

/* As lend.c: between the look for a rank that asks and the grant its region may end. */
static void grant(unsigned int me, unsigned int to)
{
	mal_word *word = &shared->granted[me].word;

	atomic_store(&shared->stays[me], MAL_NOBODY);
	mal_word_reclaim(word, me);
	if (to == me || !mal_word_grant(word, me, to))
		return;
	atomic_fetch_add(&shared->ranks[to].changes, 1);
	if (!mal_request_grant(&segment, to, 0)) {
		mal_word_reclaim(word, me);
		return;
	}
	atomic_store(&shared->stays[me], to);
	atomic_fetch_add_explicit(&shared->grants, 1, memory_order_relaxed);
}

/* As region.c, and the next MPI call: it looks at words if they may have changed. */
static void run_region(unsigned int me, unsigned int workers, unsigned int length)
{
	mal_request_open(&segment, me, 1, 0, 1, true);
	for (volatile unsigned int i = 0; i < length; i++)
		;
	mal_request_close(&segment, me);
	if (atomic_load(&shared->ranks[me].changes) != shared->seen_changes[me]) {
		shared->seen_changes[me] = atomic_load(&shared->ranks[me].changes);
		for (unsigned int i = 0; i < workers; i++)
			mal_word_release(&shared->granted[i].word, me);
	}
	for (unsigned int i = 0; i < workers; i++)
		if (i != me && mal_word_read(&shared->granted[i].word).user == me &&
		    atomic_load(&shared->stays[i]) == me)
			violation("granted after the region's end", me, (int)i, i);
}

static void step(unsigned int me, unsigned int workers, unsigned int *seed)
{
	int cpu = rand_r(seed) % CPUS;

	switch (rand_r(seed) % 9) {
	case 0: lend(me, cpu); break;
	case 1: borrow(me, cpu); break;
	case 2: give_back(me, cpu); break;
	case 3: take_back(me, cpu); break;
	case 4: move(me, cpu, (unsigned int)rand_r(seed) % workers); break;
	case 5: grant(me, (unsigned int)rand_r(seed) % workers); break;
	case 6: run_region(me, workers, (unsigned int)rand_r(seed) % 200); break;
	default: take(me, cpu); break;
	}
}

struct worker {
	unsigned int me, workers;
};

static void *work(void *opaque)
{
	struct worker *worker = opaque;
	unsigned int seed = worker->me * 7919 + 1;

	while (!atomic_load_explicit(&shared->stop, memory_order_relaxed)) {
		for (int i = 0; i < 1000; i++)
			step(worker->me, worker->workers, &seed);
		atomic_fetch_add(&shared->steps, 1000);
	}
	return NULL;
}

/* Recover as the controller does when it finds a rank dead. */
static void recover(unsigned int dead)
{
	for (int cpu = 0; cpu < CPUS; cpu++) {
		evict(dead, cpu);
		mal_word_recover(&shared->cpu[cpu].word, dead);
	}
	mal_request_forget(&segment, dead);
	for (unsigned int i = 0; i < MAX_WORKERS; i++)
		mal_word_recover(&shared->granted[i].word, dead);
}

static pid_t start_process(struct worker *worker)
{
	pid_t pid = fork();

	if (pid == 0) {
		work(worker);
		_exit(0);
	}
	return pid;
}

/* Kill rank 0 repeatedly. It never owns CPUs, so it leaves only borrowed ones. */
static void run_processes(struct worker *workers, unsigned int count, double seconds)
{
	pid_t pids[MAX_WORKERS];
	time_t end = time(NULL) + (time_t)seconds;
	unsigned int seed = 1;

	for (unsigned int i = 0; i < count; i++)
		pids[i] = start_process(&workers[i]);
	while (time(NULL) < end) {
		struct timespec pause = {0, 1000000 + rand_r(&seed) % 20000000};

		nanosleep(&pause, NULL);
		kill(pids[0], SIGKILL);
		waitpid(pids[0], NULL, 0);
		recover(0);
		pids[0] = start_process(&workers[0]);
	}
	atomic_store(&shared->stop, true);
	for (unsigned int i = 0; i < count; i++)
		waitpid(pids[i], NULL, 0);
}

static void run_threads(struct worker *workers, unsigned int count, double seconds)
{
	pthread_t threads[MAX_WORKERS];

	for (unsigned int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, &workers[i]);
	sleep((unsigned int)seconds);
	atomic_store(&shared->stop, true);
	for (unsigned int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 3;
	unsigned int count = argc > 2 ? (unsigned int)atoi(argv[2]) : 6;
	struct worker workers[MAX_WORKERS];
	bool good;

	if (count < 2 || count > MAX_WORKERS)
		return 2;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 1;
	for (int cpu = 0; cpu < CPUS; cpu++) {
		unsigned int owner = 1 + (unsigned int)cpu % (count - 1);

		mal_word_set(&shared->cpu[cpu].word, (struct mal_cpu_state){owner, owner, false});
		atomic_store(&shared->cpu[cpu].occupant, owner);
	}
	segment = (struct mal_segment){.header = &shared->header,
				       .requests = shared->requests,
				       .ranks = shared->ranks,
				       .rank_count = count};
	for (unsigned int i = 0; i < count; i++) {
		workers[i] = (struct worker){i, count};
		mal_word_set(&shared->granted[i].word, (struct mal_cpu_state){i, i, false});
	}
	puts("1..1");
	if (argc > 3 && strcmp(argv[3], "threads") == 0)
		run_threads(workers, count, seconds);
	else
		run_processes(workers, count, seconds);
	good = !shared->violations && shared->grants;
	printf("%s 1 - one user a CPU, none parked, in %llu steps and %llu grants of %u workers\n",
	       good ? "ok" : "not ok", (unsigned long long)shared->steps,
	       (unsigned long long)shared->grants, count);
	return !good;
}
