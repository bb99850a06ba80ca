/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_threads.c: threads and children of the program's own: which CPUs they get, what the
 * program sees of its CPUs, loose ranks.
 */
#include "t/unit/rank_fixture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/children.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/cpus/pins.h"
#include "libmalleable/rank/cpus/sibling_threads.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/cpus/unmanaged.h"
#include "libmalleable/rank/lend.h"

extern char **environ;

/* Whether a thread counts that is neither OpenMP's nor MPI's. */
static bool are_foreign(void)
{
	unsigned int team = thread_of(0, 1)->tid != 0;

	mal_threads_peak();
	return mal_threads_peak() > 1 + team;
}

static int set_up(void **state)
{
	(void)state;
	open_ranks(2, 2, 4);
	mal.slot->changes = 1;
	mal_cpus_refresh(&mal);
	mal_self.primary = mal_self.considered_primary = true;
	test_kernel.mask[1] = mal.home;
	mal_pins_open(&mal, &mal.home);
	mal_threads_peak();
	mal_threads_ignore(&mal);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_ranks();
	return 0;
}

static const char *mask_of_thread(unsigned int tid)
{
	static char text[MAL_CPUMASK_TEXT];

	return mal_cpumask_format(&test_kernel.mask[tid], text, sizeof(text));
}

/* The thread is bound to one CPU, as one of a team. */
static void bind_us(void)
{
	put_thread(0, 0, 0);
	thread_of(0, 0)->home = 0;
	thread_of(0, 0)->bound_cpu = MAL_NO_CPU;
	mal_bind_self(&mal, thread_of(0, 0));
	assert_string_equal(mask_of_thread(1), "0");
}

static sem_t ignored;

/* It becomes the primary one behind MPI_Init. */
static void *spares_later(void *nothing)
{
	sem_wait(&ignored);
	mal_threads_spare_self();
	return nothing;
}

static void run_thread(void *(*function)(void *), void *argument)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
	pthread_join(thread, NULL);
}

static void *answer(void *value)
{
	test_kernel.caller = 1;
	return value;
}

static int answer_c11(void *value)
{
	return *(int *)value;
}

/* A new thread may use all CPUs of its rank, and is counted. */
static void new_threads_may_use_all_cpus(void **state)
{
	pthread_attr_t attributes;
	cpu_set_t set;
	pthread_t thread;
	thrd_t other;
	int value = 7, result;
	void *got;

	(void)state;
	bind_us();
	test_kernel.caller = 1;
	assert_int_equal(pthread_create(&thread, NULL, answer, &value), 0);
	pthread_join(thread, &got);
	assert_ptr_equal(got, &value);
	assert_string_equal(mask_of_thread(1), "0-1");
	assert_int_equal(thrd_create(&other, answer_c11, &value), thrd_success);
	thrd_join(other, &result);
	assert_int_equal(result, 7);
	assert_int_equal(mal_threads_peak(), 2);
	assert_int_equal(mal_threads_peak(), 1);
	assert_false(are_foreign());
	/* Where the program chose its CPUs it has these. */
	pthread_attr_init(&attributes);
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
	test_kernel.caller = 9;
	assert_int_equal(pthread_create(&thread, &attributes, answer, &value), 0);
	pthread_join(thread, NULL);
	assert_string_equal(mask_of_thread(9), "0");
	assert_string_equal(mask_of_thread(1), "0-1");
	pthread_attr_destroy(&attributes);
	assert_int_equal(mal_threads_peak(), 2);
	mal.active = false;
	run_thread(answer, &value);
	assert_int_equal(thrd_create(&other, answer_c11, &value), thrd_success);
	thrd_join(other, NULL);
	assert_int_equal(mal_threads_peak(), 1);
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *wait_on(void *nothing)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return nothing;
}

int __wrap_pthread_join(pthread_t thread, void **result);
int __real_pthread_join(pthread_t thread, void **result);
static unsigned int joined;

int __wrap_pthread_join(pthread_t thread, void **result)
{
	joined++;
	return __real_pthread_join(thread, result);
}

/* A thread that neither OpenMP nor MPI made may compute while we wait. */
static void foreign_threads_may_compute(void **state)
{
	pthread_t thread;

	(void)state;
	pthread_mutex_lock(&held);
	assert_int_equal(pthread_create(&thread, NULL, wait_on, NULL), 0);
	assert_true(are_foreign());
	/* Three of the team and two to spare are tried, and none stays. */
	joined = 0;
	assert_true(mal_threads_have_room(&mal, 4, 2, 0));
	assert_int_equal(joined, 5);
	assert_true(mal_threads_have_room(&mal, 4, 2, 1 << 20));
	/* Nothing has room for that, but spare threads are small ones. */
	assert_false(mal_threads_have_room(&mal, 2, 2, (size_t)1 << 47));
	assert_true(mal_threads_have_room(&mal, 1, 2, (size_t)1 << 47));
	thread_of(0, 0)->tid = 1;
	thread_of(0, 1)->tid = 2;
	assert_false(are_foreign());
	thread_of(0, 1)->tid = 0;
	mal_threads_ignore(&mal);
	assert_false(are_foreign());
	pthread_mutex_unlock(&held);
	pthread_join(thread, NULL);
}

/* It becomes the primary one, as the program runs in it. */
static void *is_primary(void *others)
{
	mal_self.primary = true;
	mal.primary_own.tid = 7;
	mal_threads_spare_self();
	mal_threads_spare_self();
	assert_int_equal(are_foreign(), *(bool *)others);
	return NULL;
}

/* The primary thread is none beside itself, and leaves its part to another one. */
static void primary_is_not_foreign(void **state)
{
	bool others = false;
	pthread_t other;

	(void)state;
	run_thread(is_primary, &others);
	assert_int_equal(mal.primary.tid, MAL_PRIMARY_ENDED);
	assert_false(are_foreign());
	pthread_mutex_lock(&held);
	assert_int_equal(pthread_create(&other, NULL, wait_on, NULL), 0);
	others = true;
	run_thread(is_primary, &others);
	assert_true(are_foreign());
	pthread_mutex_unlock(&held);
	pthread_join(other, NULL);
	assert_false(are_foreign());
	/* In the middle of something it does not. */
	others = false;
	mal.lend_own.lending = true;
	run_thread(is_primary, &others);
	assert_int_equal(mal.primary.tid, 7);
	mal.lend_own.lending = false;
}

/* It is older than MPI, which has a thread of its own. */
static void primary_is_older(void **state)
{
	pthread_t thread, mpi, other;

	(void)state;
	pthread_mutex_lock(&held);
	assert_int_equal(pthread_create(&mpi, NULL, wait_on, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, spares_later, NULL), 0);
	mal_threads_ignore(&mal);
	sem_post(&ignored);
	pthread_join(thread, NULL);
	assert_false(are_foreign());
	assert_int_equal(pthread_create(&other, NULL, wait_on, NULL), 0);
	assert_true(are_foreign());
	pthread_mutex_unlock(&held);
	pthread_join(mpi, NULL);
	pthread_join(other, NULL);
}

static sigset_t signals_seen, signals_inside;
static _Atomic int handled;
static _Atomic pid_t handler; /* the thread that did */

static void *note_signals(void *seen)
{
	pthread_sigmask(SIG_SETMASK, NULL, seen);
	return NULL;
}

static void count_signal(int number)
{
	(void)number;
	handled++;
	handler = gettid();
}

/* In a thread of the team, which does what the program has in its region. */
static void *work_in_region(void *nothing)
{
	pthread_t thread;

	note_signals(&signals_seen);
	mal.ompt_own.runtime = NULL;
	if (pthread_create(&thread, NULL, note_signals, &signals_inside) == 0)
		pthread_join(thread, NULL);
	raise(SIGUSR1);
	raise(SIGUSR2);
	pthread_kill(pthread_self(), SIGUSR2);
	return nothing;
}

static void let_runtime_create(void)
{
	Dl_info info;

	/* We are the runtime. */
	assert_true(dladdr((const void *)(uintptr_t)let_runtime_create, &info));
	mal.ompt_own.runtime = info.dli_fbase;
	run_thread(work_in_region, NULL);
}

static bool has_signals(const sigset_t *set, bool first, bool second, bool crash)
{
	return sigismember(set, SIGUSR1) == first && sigismember(set, SIGUSR2) == second &&
	       sigismember(set, SIGSEGV) == crash;
}

/* Signals are for the threads that the program has without us. */
static void extra_threads_take_no_signals(void **state)
{
	sigset_t first, now;

	(void)state;
	signal(SIGUSR2, count_signal);
	handled = 0;
	sigemptyset(&first);
	sigaddset(&first, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &first, NULL);
	mal.slot->pid = getpid();
	mal.primary_own.tid = gettid();
	mal.region_own.depth = 1;
	mal.team_own.base = mal.team_own.unbalanced = 1;
	mal.region_own.running = 2;
	mal.region_own.sized = true;
	let_runtime_create();
	assert_true(has_signals(&signals_seen, true, true, false));
	/* A thread of the program's own that it creates there, and signals that it raises. */
	assert_true(has_signals(&signals_inside, true, false, false));
	assert_int_equal(handled, 2);
	assert_int_not_equal(handler, gettid());
	note_signals(&now);
	assert_true(has_signals(&now, true, false, false));
	/* The program asks for three. */
	mal.region_own.running = 3;
	mal.region_own.sized = false;
	let_runtime_create();
	assert_true(has_signals(&signals_seen, true, false, false));
	let_runtime_create();
	assert_true(has_signals(&signals_seen, true, true, false));
	/* Another level's. */
	mal.region_own.depth = 2;
	let_runtime_create();
	assert_true(has_signals(&signals_seen, true, false, false));
	pthread_sigmask(SIG_UNBLOCK, &first, NULL);
	signal(SIGUSR2, SIG_DFL);
}

/* The program sees the CPUs that its rank was given, not the one to which we bound it. */
static void sees_its_home(void **state)
{
	struct mal_cpumask chosen = {{0}};
	cpu_set_t set, real, single;
	unsigned int cpu = 0;

	(void)state;
	mal.active = false;
	assert_int_equal(sched_getaffinity(0, sizeof(real), &real), 0);
	while (cpu < 4 && !CPU_ISSET(cpu, &real))
		cpu++;
	if (cpu == 4)
		skip(); /* the node has no CPU on which we may run */
	CPU_ZERO(&single);
	CPU_SET(cpu, &single);
	assert_int_equal(sched_setaffinity(0, sizeof(single), &single), 0);
	mal.active = true;
	put_thread(0, 0, cpu);
	assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof(set), &set), 0);
	assert_int_equal(CPU_COUNT(&set), 2);
	assert_true(CPU_ISSET(0, &set) && CPU_ISSET(1, &set));
	/* If it chose just that one, it sees that, until it chooses all again. */
	mal_cpumask_add(&chosen, cpu);
	mal_pins_set(&mal, 0, &chosen);
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_true(CPU_EQUAL(&set, &single));
	mal_pins_set(&mal, 0, &mal.home);
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_int_equal(CPU_COUNT(&set), 2);
	/* One that the program chose it sees as it is. */
	thread_of(0, 0)->bound_cpu = cpu + 1;
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_true(CPU_EQUAL(&set, &single));
	mal.active = false;
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_true(CPU_EQUAL(&set, &single));
	assert_int_equal(sched_setaffinity(0, sizeof(real), &real), 0);
}

static unsigned int widened;

static void note_widening(void)
{
	widened++;
}

/* A child process gets all CPUs of the rank; the thread is on its own again behind it. */
static void children_get_all_cpus(void **state)
{
	char *arguments[] = {"true", NULL};
	pid_t child;
	FILE *out;

	(void)state;
	bind_us();
	while_binding = note_widening;
	widened = 0;
	assert_int_equal(system("exit 3"), 3 << 8);
	assert_int_equal(widened, 1);
	assert_string_equal(mask_of_thread(1), "0");
	while_binding = note_widening;
	out = popen("true", "r");
	assert_non_null(out);
	pclose(out);
	assert_int_equal(widened, 2);
	while_binding = note_widening;
	assert_int_equal(posix_spawnp(&child, "true", NULL, NULL, arguments, environ), 0);
	waitpid(child, NULL, 0);
	while_binding = note_widening;
	assert_int_equal(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ), 0);
	waitpid(child, NULL, 0);
	assert_int_equal(widened, 4);
	/* One that cannot be executed leaves the thread as it was, and says why. */
	mal.slot->pid = getpid();
	assert_int_equal(execl("/nowhere", "a", "b", (char *)NULL), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(execlp("nowhere-at-all", "a", (char *)NULL), -1);
	assert_int_equal(execle("/nowhere", "a", (char *)NULL, environ), -1);
	assert_int_equal(execv("/nowhere", arguments), -1);
	assert_int_equal(execvp("nowhere-at-all", arguments), -1);
	assert_string_equal(mask_of_thread(1), "0");
	mal_children_fork();
	mal_children_forked();
	assert_string_equal(mask_of_thread(1), "0-1");
}

static void take_back(void)
{
	mal_word_set(word_of(1), (struct mal_cpu_state){1, 1, false});
}

/* A CPU that is taken from the rank while a thread is widened is not the thread's afterwards. */
static void widened_too_far(void **state)
{
	(void)state;
	bind_us();
	while_binding = take_back;
	assert_true(mal_bind_widen(&mal, &mal.home));
	assert_string_equal(mask_of_thread(1), "0");
	assert_int_equal(mal.slot->binding, 0);
}

static struct mal_cpumask one(unsigned int cpu)
{
	struct mal_cpumask mask = {{0}};

	mal_cpumask_add(&mask, cpu);
	return mask;
}

/* What is started while CPU 2 is borrowed runs on when that has gone back. */
static void nothing_stays_on_borrowed(void **state)
{
	struct mal_cpumask wanted = one(1);

	(void)state;
	bind_us();
	mal_word_set(word_of(2), (struct mal_cpu_state){1, 0, true});
	assert_true(mal_bind_widen(&mal, &mal.home));
	assert_string_equal(mask_of_thread(1), "0-1");
	bind_us();
	assert_true(mal_bind_widen(&mal, &wanted));
	assert_string_equal(mask_of_thread(1), "1");
	bind_us();
	wanted = one(3);
	assert_true(mal_bind_widen(&mal, &wanted));
	assert_string_equal(mask_of_thread(1), "0-1");
	test_kernel.caller = 5;
	mal_bind_new_thread(&mal);
	assert_string_equal(mask_of_thread(5), "0-1");
	mal.slot->unmanaged = true;
	mal_bind_new_thread(&mal);
	assert_string_equal(mask_of_thread(5), "0-2");
}

static bool no_place;

static bool place_1(const struct mal_rank *rank, struct mal_cpumask *mask)
{
	(void)rank;
	*mask = one(1);
	return !no_place;
}

/* CPU 0 is where we put the thread: the program sees its own choice, or the user's. */
static void sees_what_was_chosen(void **state)
{
	struct mal_cpumask chosen = one(1), found;
	struct mal_pin pin;

	(void)state;
	assert_false(mal_pins_find(&mal, 0, &found));
	mal_pins_set(&mal, 0, &chosen);
	assert_true(mal_pins_find(&mal, 0, &found) && mal_cpumask_has(&found, 1));
	chosen = one(0);
	pin = mal_pins_set(&mal, 0, &chosen);
	assert_true(mal_pins_find(&mal, 0, &found) && mal_cpumask_has(&found, 0));
	mal_pins_undo(&mal, &pin);
	assert_true(mal_pins_find(&mal, 0, &found) && mal_cpumask_has(&found, 1));
	bind_us();
	mal_children_fork();
	mal_children_forked();
	assert_string_equal(mask_of_thread(1), "1");
	mal_pins_set(&mal, 0, &mal.home);
	assert_false(mal_pins_find(&mal, 0, &found));
	mal.team_own.place = place_1;
	bind_us();
	mal_children_fork();
	mal_children_forked();
	assert_string_equal(mask_of_thread(1), "1");
	no_place = true;
	bind_us();
	mal_children_fork();
	mal_children_forked();
	assert_string_equal(mask_of_thread(1), "0-1");
}

static char counted[MAL_CPUMASK_TEXT];

static int count_cpus(void)
{
	strcpy(counted, mask_of_thread(1));
	errno = EDOM;
	return 2;
}

/* Another runtime that starts in a bound thread counts all CPUs; its next region binds it anew. */
static void second_runtime_counts_all_cpus(void **state)
{
	(void)state;
	bind_us();
	mal_bind_release(&mal);
	assert_string_equal(mask_of_thread(1), "0-1");
	assert_int_equal(thread_of(0, 0)->bound_cpu, MAL_NO_CPU);
	assert_true(mal.placed.outdated);
	mal.placed_own.outdated = false;
	mal_bind_release(&mal);
	assert_false(mal.placed.outdated);
	/* Where it only counts after that. */
	bind_us();
	mal_bind_let_count(&mal, count_cpus);
	bind_us();
	mal_bind_team(&mal, 1);
	assert_string_equal(counted, "0-1");
	assert_string_equal(mask_of_thread(1), "0");
	*counted = '\0';
	mal_bind_outdate(&mal);
	mal_bind_team(&mal, 1);
	assert_string_equal(counted, "");
}

/*
 * Masks that we never gave are the program's, and so are those that it set; its new threads
 * inherit them.
 */
static void pins_of_the_program_stay(void **state)
{
	struct mal_cpumask first = one(0), second = one(1), mask;

	(void)state;
	assert_false(mal_pins_keep(&mal, 0, 1));
	assert_false(mal_pins_inherit(&mal, &mask));
	test_kernel.mask[2] = second;
	assert_true(mal_pins_keep(&mal, 0, 2));
	mal_pins_give(&mal, 0, &second);
	assert_false(mal_pins_keep(&mal, 0, 2));
	mal_pins_set(&mal, 2, &second);
	assert_true(mal_pins_keep(&mal, 0, 2));
	/* All that it knows of: it is free. */
	mal_pins_set(&mal, 1, &mal.home);
	assert_false(mal_pins_keep(&mal, 0, 1));
	test_kernel.mask[1] = first;
	mal_pins_set(&mal, 0, &first);
	assert_true(mal_pins_inherit(&mal, &mask));
	assert_memory_equal(&mask, &first, sizeof(mask));
	test_kernel.ended[2] = true;
	assert_true(mal_pins_keep(&mal, 0, 2));
	/* The place of one that has ended is used again. */
	mal_pins_set(&mal, 3, &second);
	assert_int_equal(mal.slot->pin_count, 2);
	assert_true(mal_pins_has(&mal, 3, &second));
	assert_false(mal_pins_has(&mal, 3, &first));
	mal_pins_set(&mal, 3, &mal.home);
	assert_false(mal_pins_has(&mal, 3, &second));
}

/* Of no thread: the kernel refuses to bind it. */
#define NO_TID 0x3ffffff0

/* What the kernel refuses is not noted, and what was noted before is again. */
static void refused_pins_are_not_noted(void **state)
{
	struct mal_cpumask first = one(0);
	cpu_set_t set;

	(void)state;
	test_kernel.mask[0] = first;
	mal_pins_give(&mal, 0, &first);
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	assert_false(mal_pins_keep(&mal, 0, NO_TID));
	assert_int_equal(sched_setaffinity(NO_TID, sizeof(set), &set), -1);
	assert_int_equal(errno, ESRCH);
	assert_false(mal_pins_keep(&mal, 0, NO_TID));
	mal_pins_set(&mal, NO_TID, &first);
	CPU_SET(1, &set);
	CPU_CLR(0, &set);
	assert_int_equal(sched_setaffinity(NO_TID, sizeof(set), &set), -1);
	assert_true(mal_pins_keep(&mal, 0, NO_TID));
	/* A thread's own call, for CPUs that there are not. */
	test_kernel.mask[0] = test_kernel.mask[1] = (struct mal_cpumask){{0}};
	mal_pins_give(&mal, 0, &test_kernel.mask[0]);
	CPU_ZERO(&set);
	CPU_SET(CPU_SETSIZE - 1, &set);
	assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof(set), &set), EINVAL);
	assert_false(mal_pins_keep(&mal, 0, (int32_t)gettid()));
}

static void who_binds_is_done(void)
{
	mal.segment.ranks[0].binding = mal.segment.ranks[1].binding = 0;
}

/* The program's own call waits for whoever binds its threads at the moment. */
static void own_affinity_calls_wait_their_turn(void **state)
{
	cpu_set_t set;

	(void)state;
	mal.active = false;
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
	mal.active = true;
	mal.segment.ranks[1].binding = 1;
	give_way = who_binds_is_done;
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
	assert_int_equal(test_kernel.yields, 1);
	/* Another thread of our own too. */
	mal.segment.ranks[0].binding = 1;
	assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof(set), &set), 0);
	assert_int_equal(test_kernel.yields, 2);
}

/* Another thread comes and ends, and the program computes for 4 ms, after SERIAL outside of it. */
static struct mal_snapshot sample_later(uint64_t serial)
{
	struct mal_snapshot snapshot = {.serial = serial};

	run_thread(answer, NULL);
	test_clock.process += 4 * MS;
	mal_unmanaged_sample(&mal, &snapshot);
	return snapshot;
}

/*
 * A loose rank: its threads' work is the CPU time of the process but for what its primary thread
 * polled.
 */
static void loose_rank_works_by_cpu_time(void **state)
{
	struct mal_snapshot snapshot = {0};

	(void)state;
	mal_unmanaged_open(&mal);
	assert_true(mal.unmanaged);
	run_thread(answer, NULL);
	/* In a short wait it polls all the time, in a long one until its clock is read. */
	mal.lend_own.after = MS / 2;
	test_clock.thread = MS;
	mal_unmanaged_wait_end(&mal, MS / 2);
	mal_unmanaged_wait(&mal, MS / 2);
	mal_unmanaged_wait(&mal, MS);
	test_clock.thread += 2 * MS;
	mal_unmanaged_wait_end(&mal, 5 * MS);
	test_clock.process += 10 * MS;
	mal_unmanaged_sample(&mal, &snapshot);
	assert_int_equal(snapshot.max, 2);
	assert_in_range(snapshot.busy, 7 * MS - 10, 7 * MS);
	assert_true(mal.slot->unmanaged);
	/* Only what came since is added, and what was said to be serial is the threads' too. */
	snapshot = sample_later(2 * MS);
	assert_in_range(snapshot.busy, 11 * MS - 20, 11 * MS);
	assert_int_equal(snapshot.serial, 0);
	/* Longer than they need on all CPUs: then they waited, as for children. */
	mal.cpus_own.owned_count = 1;
	snapshot = sample_later(12 * MS);
	assert_in_range(snapshot.serial, 6 * MS, 6 * MS + 20);
	mal.cpus_own.owned_count = 2;
	snapshot = sample_later(22 * MS);
	assert_in_range(snapshot.serial, 14 * MS, 14 * MS + 20);
	/* With more threads than CPUs it would use CPUs of others, but not while it waits. */
	mal.cpus_own.owned_count = 1;
	mal_unmanaged_call_end(&mal);
	assert_true(is_borrower(0));
	assert_true(asks(0));
	mal_unmanaged_call_begin(&mal);
	assert_false(asks(0));
	mal.segment.header->rules &= ~(uint32_t)MAL_RULE_GROW;
	mal_unmanaged_call_end(&mal);
	assert_false(asks(0));
	mal_self.tid = (int32_t)gettid();
	turn_clock(2 * MS);
	assert_true(mal_unmanaged_is_idle(&mal));
}

/*
 * It lends as others do, and gets all threads back on its CPUs; a lender sends all threads of
 * such a one.
 */
static void loose_rank_lends(void **state)
{
	(void)state;
	mal.unmanaged = true;
	mal_self.tid = (int32_t)gettid();
	let_borrow(1);
	mal_self.calling = true;
	mal_call_begin();
	mal_wait_begin(0);
	for (unsigned int i = 0; i < 100 && !mal.lend.lending; i++) {
		turn_clock(100 * US);
		mal_wait_poll();
	}
	assert_true(mal.lend.lending);
	assert_true(cpu_state(0).lent && cpu_state(1).lent);
	assert_true(mal_word_borrow(word_of(1), 1));
	mal.segment.ranks[1].unmanaged = 1;
	mal.segment.ranks[1].team = 4;
	mal.segment.ranks[1].pid = getpid();
	/* Its threads, whatever their numbers, have a mask that we gave. */
	test_kernel.mask[0] = one(2);
	mal_pins_give(&mal, 1, &test_kernel.mask[0]);
	assert_int_equal(mal_bind_can_spread(&mal, 1), MAL_SPREAD_DONE);
	mal.segment.ranks[1].team = 3;
	assert_int_equal(mal_bind_can_spread(&mal, 1), MAL_SPREAD_SATISFIED);
	mal_call_end();
	assert_int_equal(cpu_state(1).user, 0);
	assert_int_equal(mal.slot->count.evictions, 1);
	assert_false(mal.lend.lending);
}

/* Any of its threads may run on a CPU that goes, back or to another rank: none does afterwards. */
static void threads_of_loose_rank_follow_its_cpus(void **state)
{
	struct mal_cpumask mask = mal.home;

	(void)state;
	mal.unmanaged = mal.slot->unmanaged = true;
	mal_word_set(word_of(2), (struct mal_cpu_state){1, 0, true});
	mal.cpus_own.borrowed[mal.cpus_own.borrowed_count++] = 2;
	mal_cpumask_add(&mask, 2);
	/* Its threads, whatever their numbers. */
	test_kernel.mask[0] = mask;
	mal_pins_give(&mal, 0, &mask);
	mal_cpus_release(&mal);
	assert_int_equal(cpu_state(2).user, MAL_NOBODY);
	assert_string_equal(mask_of_thread(0), "0-1");
	take_back();
	mal.slot->changes++;
	assert_true(mal_cpus_refresh(&mal));
	assert_string_equal(mask_of_thread(0), "0");
}

/*
 * What another thread than the primary one wishes holds while that is in MPI: until all threads
 * sleep, and again after that.
 */
static void wishes_of_other_threads_stay(void **state)
{
	(void)state;
	mal.unmanaged = mal.slot->unmanaged = true;
	mal_self.tid = (int32_t)gettid();
	mal_word_set(word_of(2), (struct mal_cpu_state){1, 0, true});
	mal.slot->changes++;
	mal_self.primary = false;
	mal_unmanaged_wish(&mal, 4);
	mal_self.primary = true;
	assert_true(asks(0));
	mal_self.calling = true;
	mal_call_begin();
	assert_true(asks(0));
	assert_int_equal(mal.cpus.borrowed_count, 1);
	let_borrow(1);
	mal_wait_begin(0);
	for (unsigned int i = 0; i < 100 && !mal.lend.lending; i++) {
		turn_clock(100 * US);
		mal_wait_poll();
	}
	assert_true(mal.lend.lending);
	assert_int_equal(mal.cpus.borrowed_count, 0);
	assert_int_equal(cpu_state(2).user, MAL_NOBODY);
	assert_false(asks(0));
	mal_call_end();
	assert_true(asks(0));
	mal_unmanaged_wish(&mal, 0);
	assert_false(mal.work.stays);
}

/* One that wishes while nobody may lend yet, and then awaits a change, has asked. */
static void wishes_come_before_lending(void **state)
{
	(void)state;
	mal.unmanaged = mal.slot->unmanaged = true;
	mal.segment.header->rules = 0;
	mal_unmanaged_wish(&mal, 4);
	assert_true(asks(0));
	/* Nor is it granted anything that it has ceased to wish. */
	mal_unmanaged_wish(&mal, 0);
	assert_false(asks(0));
	/* Nor while it is disabled. */
	mal.bounds_own.rules_dropped = MAL_RULE_LEND;
	mal_unmanaged_wish(&mal, 4);
	assert_false(asks(0));
}

static _Atomic bool computing;
static _Atomic int32_t computer;

static void *compute(void *nothing)
{
	computer = (int32_t)gettid();
	while (computing)
		;
	return nothing;
}

/* Start a thread that computes, of which nobody tells us, and wait until it does. */
static pthread_t start_computing(void)
{
	pthread_t thread;

	computer = 0;
	computing = true;
	mal.active = false;
	assert_int_equal(pthread_create(&thread, NULL, compute, NULL), 0);
	mal.active = true;
	while (!computer)
		sched_yield();
	return thread;
}

static void stop_computing(pthread_t thread)
{
	computing = false;
	pthread_join(thread, NULL);
}

/* The same of what reads the program in the background. */
static void start_reading(void)
{
	int32_t caller = test_kernel.caller;

	computer = 0;
	computing = true;
	test_kernel.caller = 0;
	assert_true(mal_threads_start_background(compute));
	while (!computer)
		sched_yield();
	test_kernel.caller = caller;
}

static void stop_reading(void)
{
	computing = false;
	while (mal_threads_background_works())
		sched_yield();
}

static void await_sleep(void)
{
	while (!mal_others_sleep(&mal))
		sched_yield();
}

/* Start a thread that sleeps as long as we hold the lock. */
static pthread_t start_sleeping(void *(*function)(void *))
{
	pthread_t thread;

	pthread_mutex_lock(&held);
	assert_int_equal(pthread_create(&thread, NULL, function, NULL), 0);
	await_sleep();
	return thread;
}

static void wait_long(void)
{
	mal_wait_begin(0);
	for (unsigned int i = 0; i < 100 && !mal.lend.lending; i++) {
		turn_clock(100 * US);
		test_clock.thread += 100 * US;
		mal_wait_poll();
	}
}

/* A thread that nobody told us of computes while we wait: our CPUs are not idle. */
static void older_threads_keep_cpus_busy(void **state)
{
	pthread_t thread;

	(void)state;
	mal_self.tid = (int32_t)gettid();
	thread = start_computing();
	assert_false(are_foreign());
	let_borrow(1);
	mal_self.calling = true;
	mal_call_begin();
	wait_long();
	assert_false(mal.lend.lending);
	assert_int_equal(mal.slot->foreign_threads, MAL_FOREIGN_COMPUTE);
	mal_call_end();
	/* A thread of the team may poll for work. */
	thread_of(0, 0)->tid = 1;
	thread_of(0, 1)->tid = computer;
	mal_call_begin();
	wait_long();
	assert_true(mal.lend.lending);
	mal_call_end();
	assert_true(mal_others_sleep(&mal));
	assert_false(mal_all_sleep(&mal));
	thread_of(0, 1)->tid = 0;
	stop_computing(thread);
	mal_call_begin();
	wait_long();
	assert_true(mal.lend.lending);
	mal_call_end();
}

static void look_later(uint64_t computed)
{
	test_clock.thread += computed;
	turn_clock(2 * MS);
	mal_wait_poll();
}

static void *wait_and_compute(void *nothing)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return compute(nothing);
}

/* A thread that has run since may be ready without a CPU: its clock does not tell. */
static void ready_threads_do_not_sleep(void **state)
{
	pthread_t thread;

	(void)state;
	mal_self.tid = (int32_t)gettid();
	computing = true;
	computer = 0;
	thread = start_sleeping(wait_and_compute);
	pthread_mutex_unlock(&held);
	while (!computer)
		sched_yield();
	test_clock.thread += MS;
	assert_true(mal_others_compute(&mal, MS));
	assert_false(mal_others_sleep(&mal));
	stop_computing(thread);
}

/* A thread of a library that sleeps leaves the rank's CPUs to others until it computes. */
static void sleeping_threads_leave_cpus(void **state)
{
	pthread_t thread, other;

	(void)state;
	mal_self.tid = (int32_t)gettid();
	thread = start_sleeping(wait_on);
	assert_true(mal_all_sleep(&mal));
	/* One that is new computes. */
	other = start_computing();
	assert_false(mal_others_sleep(&mal));
	stop_computing(other);
	await_sleep();
	let_borrow(1);
	mal_self.calling = true;
	mal_call_begin();
	mal_wait_begin(0);
	look_later(0);
	assert_true(mal.lend.lending);
	look_later(100 * US);
	assert_true(mal.lend.lending);
	look_later(MS);
	assert_false(mal.lend.lending);
	assert_int_equal(mal.slot->foreign_threads, MAL_FOREIGN_COMPUTE);
	look_later(MS);
	assert_false(mal.lend.lending);
	mal_call_end();
	/* Nor in the next wait before it has slept. */
	mal_call_begin();
	mal_wait_begin(0);
	look_later(0);
	assert_false(mal.lend.lending);
	look_later(0);
	assert_true(mal.lend.lending);
	mal_call_end();
	pthread_mutex_unlock(&held);
	pthread_join(thread, NULL);
}

/* CPUs are lent: a thread ends and another is made between two looks, so there are as many. */
static void a_thread_that_follows_another_is_seen(void **state)
{
	pthread_t thread, other;

	(void)state;
	mal_self.tid = (int32_t)gettid();
	thread = start_sleeping(wait_on);
	pthread_mutex_unlock(&held);
	pthread_join(thread, NULL);
	other = start_computing();
	assert_true(mal_others_compute(&mal, MS));
	stop_computing(other);
}

/* What read the program has ended, and another thread computes: there are as many as before. */
static void a_thread_that_follows_the_reader_is_seen(void **state)
{
	pthread_t other;

	(void)state;
	mal_self.tid = (int32_t)gettid();
	start_reading();
	await_sleep();
	stop_reading();
	usleep(100000);
	other = start_computing();
	assert_false(mal_others_sleep(&mal));
	stop_computing(other);
}

/* Without a descriptor nobody can be looked at: each of them may compute. */
static void unseen_threads_compute(void **state)
{
	struct rlimit files, none;
	pthread_t thread;

	(void)state;
	mal_self.tid = (int32_t)gettid();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	none = (struct rlimit){0, files.rlim_max};
	await_sleep();
	pthread_mutex_lock(&held);
	assert_int_equal(pthread_create(&thread, NULL, wait_on, NULL), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_true(mal_others_compute(&mal, MS));
	assert_true(mal_others_compute(&mal, MS));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	pthread_mutex_unlock(&held);
	pthread_join(thread, NULL);
}

/* More threads than are looked at: one of them may compute, whatever the others do. */
static void too_many_threads_compute(void **state)
{
	enum { THREADS = 513 };
	pthread_t threads[THREADS];

	(void)state;
	mal_self.tid = (int32_t)gettid();
	pthread_mutex_lock(&held);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_on, NULL), 0);
	assert_false(mal_others_sleep(&mal));
	assert_true(mal_others_compute(&mal, MS));
	pthread_mutex_unlock(&held);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* What reads the program in the background keeps no CPU from being lent: it gives way. */
static void reader_keeps_no_cpu_from_lending(void **state)
{
	(void)state;
	mal_self.tid = (int32_t)gettid();
	start_reading();
	assert_int_equal(mal_threads_background_tid(), computer);
	let_borrow(1);
	mal_self.calling = true;
	mal_call_begin();
	wait_long();
	assert_true(mal.lend.lending);
	mal_call_end();
	stop_reading();
	assert_int_equal(mal_threads_background_tid(), 0);
	assert_true(mal_threads_background_ns() > 0);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(new_threads_may_use_all_cpus),
		CASE(foreign_threads_may_compute),
		CASE(primary_is_not_foreign),
		CASE(primary_is_older),
		CASE(extra_threads_take_no_signals),
		CASE(sees_its_home),
		CASE(children_get_all_cpus),
		CASE(widened_too_far),
		CASE(pins_of_the_program_stay),
		CASE(refused_pins_are_not_noted),
		CASE(own_affinity_calls_wait_their_turn),
		CASE(loose_rank_works_by_cpu_time),
		CASE(loose_rank_lends),
		CASE(wishes_of_other_threads_stay),
		CASE(wishes_come_before_lending),
		CASE(threads_of_loose_rank_follow_its_cpus),
		CASE(older_threads_keep_cpus_busy),
		CASE(sleeping_threads_leave_cpus),
		CASE(ready_threads_do_not_sleep),
		CASE(unseen_threads_compute),
		CASE(too_many_threads_compute),
		CASE(reader_keeps_no_cpu_from_lending),
		CASE(a_thread_that_follows_the_reader_is_seen),
		CASE(a_thread_that_follows_another_is_seen),
		CASE(nothing_stays_on_borrowed),
		CASE(sees_what_was_chosen),
		CASE(second_runtime_counts_all_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
