/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * threads.c: the threads that the program creates itself: where they start, how many count.
 *
 * Invariant: a new thread may use all CPUs of its rank (t/unit/test_threads.c:
 * new_threads_may_use_all_cpus; t/t2009-decisions.t).
 */
#include "libmalleable/rank/cpus/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/base/symbols.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/pins.h"
#include "libmalleable/rank/cpus/signals.h"
#include "libmalleable/rank/state/primary_thread.h"

/*
 * Threads of the program: alive now, those of them that are MPI's, the most that were alive. Not in
 * mal_rank: any thread writes here.
 */
static _Atomic int alive;
static _Atomic int ignored;
static _Atomic int max;
static __thread bool counted; /* the calling thread is one of those alive */

/* The thread in the background. */
static struct {
	void *(*function)(void *);
	_Atomic bool works;
	_Atomic int32_t tid;
	uint64_t before_ns; /* CPU time of those before */
	_Atomic uint64_t used_ns;
} background;

struct start {
	void *(*function)(void *);
	int (*function_c11)(void *);
	void *argument;
	bool placed; /* the program chose its CPUs, MASK */
	struct mal_cpumask mask;
	bool extra;
	bool vanishes;	 /* at exit, see vanish() */
	bool from_extra; /* but it is the program's: it blocks SIGNALS */
	sigset_t signals;
};

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

void mal_threads_end_primary(void)
{
	if (!mal_self.primary || mal_self.declared || mal.region.depth || mal.lend.lending)
		return;
	mal_self.primary = false;
	mal_primary_set(&mal, MAL_PRIMARY_ENDED);
}

static void ended(void *nothing)
{
	(void)nothing;
	if (counted)
		atomic_fetch_sub(&alive, 1);
	mal_threads_end_primary();
}

static void begun(void)
{
	int now = atomic_fetch_add(&alive, 1) + 1;
	int before = atomic_load(&max);

	while (before < now && !atomic_compare_exchange_weak(&max, &before, now))
		;
}

/*
 * Set CPUs chosen by the program once more: before the thread had a number they may have been
 * widened.
 */
static void settle_in(struct mal_rank *rank, const struct start *start)
{
	struct mal_pin pin;

	counted = true;
	if (!rank->active)
		return;
	mal_signals_begin(start->extra);
	if (start->from_extra)
		pthread_sigmask(SIG_SETMASK, &start->signals, NULL);
	if (!start->placed) {
		mal_bind_new_thread(rank);
	} else {
		pin = mal_pins_set(rank, 0, &start->mask);
		if (mal_cpumask_set_affinity(0, &start->mask) < 0)
			mal_pins_undo(rank, &pin);
	}
}

/* Whether CALLER is the runtime, which puts its threads where the user wants them. */
static bool is_runtime(const struct mal_rank *rank, const void *caller)
{
	return rank->ompt.runtime && mal_object_of(caller) == rank->ompt.runtime;
}

static _Atomic bool exiting;

static void note_exit(void)
{
	exiting = true;
}

/*
 * libomp ends its threads when the process exits, and with each its thread_local objects, behind
 * the program's static ones. libgomp does not end any, and a thread that exists only because of us
 * has no such objects without us. To the kernel it ends here: that is what pthread_join() waits
 * for.
 */
static void vanish(const struct start *start)
{
	if (start->vanishes && exiting)
		syscall(SYS_exit, 0);
}

/* Whether the thread that CALLER makes does so. */
static bool is_to_vanish(const struct mal_rank *rank, const void *caller, bool is_extra)
{
	static _Atomic bool noted;

	if (!is_extra && !(rank->ompt.for_gomp && is_runtime(rank, caller)))
		return false;
	return atomic_exchange(&noted, true) || atexit(note_exit) == 0;
}

/* In glibc a C11 thread is one of POSIX, whose result is a number. */
static void *run(void *opaque)
{
	struct start start = *(struct start *)opaque;
	void *result;

	free(opaque);
	settle_in(&mal, &start);
	pthread_cleanup_push(ended, NULL);
	result = start.function ? start.function(start.argument)
				: (void *)(uintptr_t)start.function_c11(start.argument);
	vanish(&start);
	pthread_cleanup_pop(1);
	return result;
}

static create_function *next_create(void)
{
	MAL_NEXT(pthread_create);
	return next;
}

/* Read the CPUs that the attributes name, if any. Without a choice they name all CPUs. */
static bool has_cpus(const pthread_attr_t *attributes, struct mal_cpumask *mask)
{
	cpu_set_t set;

	if (!attributes || pthread_attr_getaffinity_np(attributes, sizeof(set), &set) ||
	    CPU_COUNT(&set) >= CPU_SETSIZE)
		return false;
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			mal_cpumask_add(mask, cpu);
	return true;
}

/*
 * Where the user wants the calling thread of the team, by variables of OpenMP: without us the
 * threads that it makes inherit that. Not if CPUs of that place went to other ranks.
 */
static bool has_place(struct mal_rank *rank, const void *caller, struct mal_cpumask *mask)
{
	struct mal_cpumask now;

	return rank->team.place && !rank->observe && !is_runtime(rank, caller) &&
	       mal_cpumask_get_affinity(0, &now) == 0 && mal_bind_is_ours(rank, 0, &now) &&
	       rank->team.place(rank, mask) && mal_bind_owns(rank, mask);
}

/*
 * Whether CALLER makes a thread that the program would not have without us: the runtime, for the
 * primary thread's team, when that has its own ones; or for a region inside such a thread's work.
 */
static bool makes_extra(const struct mal_rank *rank, const void *caller)
{
	bool extra = mal_signals_are_hidden();
	static unsigned int created;
	unsigned int team;

	if (!extra && (!mal_self.primary || rank->region.depth != 1))
		return false;
	if (!is_runtime(rank, caller))
		return false;
	if (extra)
		return true;
	/* The program may have asked for so many by a num_threads clause. */
	team = rank->region.sized || rank->region.running <= rank->team.base ? rank->team.unbalanced
									     : rank->region.running;
	return ++created >= team;
}

/* What the calling thread hands on to one that CALLER makes. */
static void hand_on(struct mal_rank *rank, struct start *start, const void *caller)
{
	start->extra = rank->active && makes_extra(rank, caller);
	start->vanishes = is_to_vanish(rank, caller, start->extra);
	if (!rank->active)
		return;
	start->placed = start->placed || mal_pins_inherit(rank, &start->mask) ||
			has_place(rank, caller, &start->mask);
	start->from_extra = mal_signals_are_hidden() && !start->extra;
	if (start->from_extra)
		mal_signals_read(rank, &start->signals);
}

/* CALLER makes the thread that FROM tells of. */
static int create(pthread_t *thread, const pthread_attr_t *attributes, const struct start *from,
		  const void *caller)
{
	struct start *start = malloc(sizeof(*start));
	sigset_t before;
	int result;
	bool hides;

	if (!start)
		return EAGAIN;
	*start = *from;
	start->placed = has_cpus(attributes, &start->mask);
	hand_on(&mal, start, caller);
	hides = start->extra;
	begun();
	/* From its first instruction on. */
	if (hides)
		mal_signals_block(&before);
	result = next_create()(thread, attributes, run, start);
	if (hides)
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (result) {
		atomic_fetch_sub(&alive, 1);
		free(start);
	}
	return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
		   void *argument)
{
	/* Of a forked child's threads, too. */
	if (!mal.active && !mal.ompt.for_gomp)
		return next_create()(thread, attributes, function, argument);
	return create(thread, attributes,
		      &(struct start){.function = function, .argument = argument},
		      __builtin_return_address(0));
}

/* The C library's thrd_create() does not call pthread_create() by its name. */
int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
	MAL_NEXT(thrd_create);

	if (!mal.active)
		return next(thread, function, argument);
	return create(thread, NULL, &(struct start){.function_c11 = function, .argument = argument},
		      __builtin_return_address(0))
		       ? thrd_error
		       : thrd_success;
}

bool mal_threads_start_own(void *(*function)(void *))
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	bool started;

	sigfillset(&all);
	if (pthread_attr_init(&attributes))
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	started = next_create()(&thread, &attributes, function, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return started;
}

static void *run_background(void *nothing)
{
	syscall(SYS_sched_setaffinity, 0, sizeof(mal.allocation), &mal.allocation);
	atomic_store(&background.tid, (int32_t)syscall(SYS_gettid));
	background.function(NULL);
	atomic_store(&background.used_ns,
		     background.before_ns + mal_clock_ns(CLOCK_THREAD_CPUTIME_ID));
	atomic_store(&background.tid, 0);
	atomic_store(&background.works, false);
	return nothing;
}

bool mal_threads_start_background(void *(*function)(void *))
{
	bool started;

	background.before_ns = background.used_ns;
	background.function = function;
	atomic_store(&background.works, true);
	started = mal_threads_start_own(run_background);
	if (!started)
		atomic_store(&background.works, false);
	return started;
}

bool mal_threads_background_works(void)
{
	return atomic_load(&background.works);
}

int32_t mal_threads_background_tid(void)
{
	return atomic_load_explicit(&background.tid, memory_order_relaxed);
}

uint64_t mal_threads_background_ns(void)
{
	int32_t tid = atomic_load(&background.tid);
	uint64_t used_ns = tid ? mal_clock_ns(mal_thread_clock(tid)) : 0;

	return used_ns ? background.before_ns + used_ns : atomic_load(&background.used_ns);
}

/* Wait until the creator has made all threads, and releases the lock. */
static void *wait_for_maker(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

/* Number of the team's threads besides the primary one. */
static int team_threads(const struct mal_rank *rank)
{
	unsigned int count = 0;

	while (count < rank->segment.thread_count &&
	       atomic_load_explicit(&rank->threads[count].tid, memory_order_relaxed))
		count++;
	return count ? (int)count - 1 : 0;
}

bool mal_threads_have_room(const struct mal_rank *rank, unsigned int team, unsigned int spare,
			   size_t stack)
{
	unsigned int created = 0, there = (unsigned int)team_threads(rank) + 1;
	unsigned int missing = team > there ? team - there : 0, wanted = spare + missing;
	pthread_t *threads = calloc(wanted, sizeof(*threads));
	pthread_attr_t attributes;
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	sigset_t all, before;
	int cancels;

	if (!threads)
		return false;
	if (pthread_attr_init(&attributes)) {
		free(threads);
		return false;
	}
	if (stack)
		pthread_attr_setstacksize(&attributes, stack);
	/* Nothing may leave this function while threads refer to its variables. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancels);
	pthread_mutex_lock(&lock);
	while (created < wanted &&
	       next_create()(&threads[created], created < missing ? &attributes : NULL,
			     wait_for_maker, &lock) == 0)
		created++;
	pthread_mutex_unlock(&lock);
	for (unsigned int i = 0; i < created; i++)
		pthread_join(threads[i], NULL);
	pthread_setcancelstate(cancels, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	free(threads);
	return created == wanted;
}

unsigned int mal_threads_peak(void)
{
	int now = atomic_load(&alive);
	int peak = atomic_exchange(&max, now) - atomic_load(&ignored);

	return peak > 0 ? (unsigned int)peak + 1 : 1;
}

void mal_threads_spare_self(void)
{
	int others, before;

	if (!counted)
		return;
	counted = false;
	others = atomic_fetch_sub(&alive, 1) - 1;
	/* It may be older than MPI. */
	before = atomic_load(&ignored);
	if (before > others)
		atomic_store(&ignored, others);
}

void mal_threads_ignore(const struct mal_rank *rank)
{
	atomic_store(&ignored, atomic_load(&alive) - team_threads(rank));
}
