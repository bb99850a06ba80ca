/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* threads.c: the threads that the program creates itself. */
#include "libmalleable/rank/cpus/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/pins.h"
#include "libmalleable/rank/state/state.h"

/* SIGCANCEL and SIGSETXID of glibc, as bits of SigBlk (proc(5)); how often to look again. */
#define GLIBCS_OWN (3ull << 31)
#define MOMENTS 1000

/*
 * Threads of the program: alive now, those of them that are MPI's, the most that were alive. Not in
 * mal_rank: any thread writes here.
 */
static _Atomic int alive;
static _Atomic int ignored;
static _Atomic int max;
/* The calling thread exists only because of us: signals are for the threads of the program. */
static __thread bool extra __attribute__((tls_model("initial-exec")));

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

static void ended(void *nothing)
{
	(void)nothing;
	atomic_fetch_sub(&alive, 1);
}

static void begun(void)
{
	int now = atomic_fetch_add(&alive, 1) + 1;
	int before = atomic_load(&max);

	while (before < now && !atomic_compare_exchange_weak(&max, &before, now))
		;
}

/* Block all signals but those that come of what the thread itself does. */
static void block_signals(sigset_t *before)
{
	static const int own[] = {SIGABRT, SIGBUS, SIGFPE,  SIGILL, SIGPIPE,
				  SIGSEGV, SIGSYS, SIGTRAP, SIGXFSZ};
	sigset_t others;

	sigfillset(&others);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&others, own[i]);
	pthread_sigmask(SIG_BLOCK, &others, before);
}

/* What the primary thread blocks at this moment. */
static unsigned long long read_blocked(void)
{
	char path[64], text[4096];
	const char *line;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)mal.slot->pid,
		 (int)mal.primary_tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	text[length > 0 ? length : 0] = '\0';
	if (fd >= 0)
		close(fd);
	line = strstr(text, "SigBlk:");
	return line ? strtoull(line + strlen("SigBlk:"), NULL, 16) : 0;
}

/*
 * What the primary thread blocks: that is the one that would be here without us. glibc blocks all
 * signals while it makes a thread, also its own ones, which a program cannot block. Safe between
 * vfork() and exec.
 */
static void read_signals(sigset_t *signals)
{
	unsigned long long bits = read_blocked();

	for (int i = 0; i < MOMENTS && (bits & GLIBCS_OWN); i++) {
		syscall(SYS_sched_yield);
		bits = read_blocked();
	}
	sigemptyset(signals);
	for (int number = 1; number <= 64; number++)
		if (bits >> (number - 1) & 1)
			sigaddset(signals, number);
}

void mal_threads_show_signals(void)
{
	sigset_t signals;

	if (!extra)
		return;
	read_signals(&signals);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

void mal_threads_hide_signals(void)
{
	if (extra)
		block_signals(NULL);
}

/*
 * Set CPUs chosen by the program once more: before the thread had a number they may have been
 * widened.
 */
static void settle_in(const struct start *start)
{
	struct mal_pin pin;

	if (!mal.active)
		return;
	extra = start->extra;
	if (start->from_extra)
		pthread_sigmask(SIG_SETMASK, &start->signals, NULL);
	if (!start->placed) {
		mal_bind_new_thread();
	} else {
		pin = mal_pins_set(0, &start->mask);
		if (mal_cpumask_set_affinity(0, &start->mask) < 0)
			mal_pins_undo(&pin);
	}
}

/* Whether CALLER is the runtime, which puts its threads where the user wants them. */
static bool is_runtime(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && info.dli_fbase == mal.teams.runtime;
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
static bool is_to_vanish(const void *caller, bool is_extra)
{
	static _Atomic bool noted;

	if (!is_extra && !(mal.teams.outlast_exit && is_runtime(caller)))
		return false;
	return atomic_exchange(&noted, true) || atexit(note_exit) == 0;
}

static void *run(void *opaque)
{
	struct start start = *(struct start *)opaque;
	void *result;

	free(opaque);
	settle_in(&start);
	pthread_cleanup_push(ended, NULL);
	result = start.function(start.argument);
	vanish(&start);
	pthread_cleanup_pop(1);
	return result;
}

static create_function *next_create(void)
{
	static create_function *next;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
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
static bool has_place(const void *caller, struct mal_cpumask *mask)
{
	struct mal_cpumask now;

	return mal.teams.place && !mal.observe && !is_runtime(caller) &&
	       mal_cpumask_get_affinity(0, &now) == 0 && mal_bind_is_ours(0, &now) &&
	       mal.teams.place(mask) && mal_bind_owns(mask);
}

/*
 * Whether CALLER makes a thread that the program would not have without us: the runtime, for the
 * primary thread's team, when that has its own ones; or for a region inside such a thread's work.
 */
static bool makes_extra(const void *caller)
{
	static unsigned int made;
	unsigned int team;

	if (!extra && (!mal_self.primary || mal.depth != 1))
		return false;
	if (!is_runtime(caller))
		return false;
	if (extra)
		return true;
	/* The program may have asked for so many by a num_threads clause. */
	team = mal.sized || mal.running <= mal.base ? mal.teams.unbalanced : mal.running;
	return ++made >= team;
}

/* What the calling thread hands on to one that CALLER makes. */
static void hand_on(struct start *start, const void *caller)
{
	start->extra = mal.active && makes_extra(caller);
	start->vanishes = is_to_vanish(caller, start->extra);
	if (!mal.active)
		return;
	start->placed =
		start->placed || mal_pins_inherit(&start->mask) || has_place(caller, &start->mask);
	start->from_extra = extra && !start->extra;
	if (start->from_extra)
		read_signals(&start->signals);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
		   void *argument)
{
	struct start *start;
	sigset_t before;
	int result;
	bool hides;

	/* Of a forked child's threads, too. */
	if (!mal.active && !mal.teams.outlast_exit)
		return next_create()(thread, attributes, function, argument);
	start = malloc(sizeof(*start));
	if (!start)
		return EAGAIN;
	*start = (struct start){.function = function, .argument = argument};
	start->placed = has_cpus(attributes, &start->mask);
	hand_on(start, __builtin_return_address(0));
	hides = start->extra;
	begun();
	/* From its first instruction on. */
	if (hides)
		block_signals(&before);
	result = next_create()(thread, attributes, run, start);
	if (hides)
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (result) {
		ended(NULL);
		free(start);
	}
	return result;
}

static int run_c11(void *opaque)
{
	struct start start = *(struct start *)opaque;
	int result;

	free(opaque);
	settle_in(&start);
	pthread_cleanup_push(ended, NULL);
	result = start.function_c11(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

/* The C library's thrd_create() does not call pthread_create() by its name. */
int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
	static int (*next)(thrd_t *, thrd_start_t, void *);
	struct start *start;
	int result;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "thrd_create");
	if (!mal.active)
		return next(thread, function, argument);
	start = malloc(sizeof(*start));
	if (!start)
		return thrd_nomem;
	*start = (struct start){.function_c11 = function, .argument = argument};
	hand_on(start, __builtin_return_address(0));
	begun();
	result = next(thread, run_c11, start);
	if (result != thrd_success) {
		ended(NULL);
		free(start);
	}
	return result;
}

/* What a thread sends to itself is handled there, or waits in the thread that is the program's. */
int raise(int number)
{
	static __typeof__(raise) *next;
	sigset_t signals;
	int result;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "raise");
	if (!extra || !mal.active)
		return next(number);
	read_signals(&signals);
	if (sigismember(&signals, number) == 1)
		return (int)syscall(SYS_tgkill, getpid(), mal.primary_tid, number);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
	result = next(number);
	mal_threads_hide_signals();
	return result;
}

int pthread_kill(pthread_t thread, int number)
{
	static __typeof__(pthread_kill) *next;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_kill");
	if (number && extra && pthread_equal(thread, pthread_self()))
		return raise(number) ? errno : 0;
	return next(thread, number);
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
	struct timespec used;

	/* The clock of a thread, as pthread_getcpuclockid(3) encodes it. */
	if (tid && clock_gettime((clockid_t)(~(uint32_t)tid << 3 | 6), &used) == 0)
		return background.before_ns + (uint64_t)used.tv_sec * 1000000000u +
		       (uint64_t)used.tv_nsec;
	return atomic_load(&background.used_ns);
}

/* Wait until the creator has made all threads, and releases the lock. */
static void *wait_for_maker(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

/* Number of the team's threads besides the primary one. */
static int team_threads(void)
{
	unsigned int count = 0;

	while (count < mal.segment.thread_count &&
	       atomic_load_explicit(&mal.threads[count].tid, memory_order_relaxed))
		count++;
	return count ? (int)count - 1 : 0;
}

bool mal_threads_have_room(unsigned int team, unsigned int spare, size_t stack)
{
	unsigned int made = 0, there = (unsigned int)team_threads() + 1;
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
	while (made < wanted && next_create()(&threads[made], made < missing ? &attributes : NULL,
					      wait_for_maker, &lock) == 0)
		made++;
	pthread_mutex_unlock(&lock);
	for (unsigned int i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	pthread_setcancelstate(cancels, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	free(threads);
	return made == wanted;
}

unsigned int mal_threads_peak(void)
{
	int now = atomic_load(&alive);
	int peak = atomic_exchange(&max, now) - atomic_load(&ignored);

	return peak > 0 ? (unsigned int)peak + 1 : 1;
}

void mal_threads_ignore(void)
{
	atomic_store(&ignored, atomic_load(&alive) - team_threads());
}

bool mal_threads_are_foreign(void)
{
	return atomic_load_explicit(&alive, memory_order_relaxed) -
		       atomic_load_explicit(&ignored, memory_order_relaxed) >
	       team_threads();
}
