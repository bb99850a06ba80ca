/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rank_turns.c: several ranks in one process. */
#include "t/unit/rank_turns.h"

#include <dirent.h>
#include <errno.h>
#include <omp-tools.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "libmalleable/controller/ranks.h"
#include "libmalleable/controller/step.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/program/runtime.h"
#include "libmalleable/rank/region_table.h"
#include "libmalleable/rank/wait.h"

#define STACK (128u << 10)

struct turns_rank turns_rank[TURNS_RANKS];
struct turns_thread turns_thread[TURNS_CONTROLLER + 1];

/* What goes on in a thread. */
static struct {
	ucontext_t context;
	char *stack;
	void (*does)(void);
	unsigned int number, clause;
	bool flag;
} going[TURNS_CONTROLLER + 1];

static ucontext_t outside;
static unsigned int inside; /* the thread that goes on, NOBODY_INSIDE */
#define NOBODY_INSIDE UINT32_MAX
static unsigned int loaded; /* the rank that goes on */
static ompt_data_t parallels[TURNS_RANKS], tasks[TURNS_CONTROLLER];
static unsigned int wheres[TURNS_RANKS];
static int num_threads[TURNS_RANKS]; /* what the runtime of each rank would give a region */

static struct mal_step_facts step;
static struct mal_controller controller;

static ompt_callback_parallel_begin_t parallel_begin;
static ompt_callback_parallel_end_t parallel_end;
static ompt_callback_implicit_task_t implicit_task;

/* RANK is the one that the rank library's entry points mean (t/Makefile.am.inc). */
static void load(unsigned int rank)
{
	if (rank >= TURNS_RANKS)
		return;
	loaded = rank;
	mal_current = &turns_rank[rank].known;
}

/* The coroutines. */

static void stop_here(void)
{
	unsigned int thread = inside;

	if (thread != NOBODY_INSIDE)
		swapcontext(&going[thread].context, &outside);
}

static void run_thread(void)
{
	for (;;) {
		going[inside].does();
		turns_thread[inside].busy = false;
		stop_here();
	}
}

static void make_thread(unsigned int thread)
{
	if (!going[thread].stack)
		going[thread].stack = malloc(STACK);
	assert_non_null(going[thread].stack);
	getcontext(&going[thread].context);
	going[thread].context.uc_stack.ss_sp = going[thread].stack;
	going[thread].context.uc_stack.ss_size = STACK;
	makecontext(&going[thread].context, run_thread, 0);
	turns_thread[thread].busy = false;
}

void turns_go_on(unsigned int thread)
{
	load(thread / TURNS_THREADS);
	mal_self = turns_thread[thread].self;
	test_kernel.caller = thread < TURNS_CONTROLLER ? (pid_t)thread + 1 : 0;
	inside = thread;
	swapcontext(&outside, &going[thread].context);
	inside = NOBODY_INSIDE;
	turns_thread[thread].self = mal_self;
}

/*
 * The thread has begun to do something, and gets as far as the first moment at which others may
 * interfere.
 */
static void begin(unsigned int thread, void (*does)(void))
{
	assert_false(turns_thread[thread].busy);
	going[thread].does = does;
	turns_thread[thread].busy = true;
	turns_go_on(thread);
}

bool turns_is_quiet(void)
{
	for (unsigned int i = 0; i <= TURNS_CONTROLLER; i++)
		if (turns_thread[i].busy)
			return false;
	return true;
}

/* Where others may interfere. */

#define INTERFERE(type, name, parameters, arguments) \
	type __wrap_##name parameters; \
	type __real_##name parameters; \
	type __wrap_##name parameters \
	{ \
		stop_here(); \
		return __real_##name arguments; \
	}
INTERFERE(bool, mal_word_lend, (mal_word * word, unsigned int me), (word, me))
INTERFERE(bool, mal_word_grant, (mal_word * word, unsigned int me, unsigned int to), (word, me, to))
INTERFERE(bool, mal_word_borrow, (mal_word * word, unsigned int me), (word, me))
INTERFERE(bool, mal_word_release, (mal_word * word, unsigned int me), (word, me))
INTERFERE(unsigned int, mal_word_reclaim, (mal_word * word, unsigned int me), (word, me))
INTERFERE(bool, mal_word_move, (mal_word * word, unsigned int me, unsigned int to), (word, me, to))
INTERFERE(bool, mal_word_take, (mal_word * word, unsigned int me), (word, me))
INTERFERE(bool, mal_word_recover, (mal_word * word, unsigned int dead), (word, dead))
INTERFERE(bool, mal_request_grant,
	  (const struct mal_segment *segment, unsigned int rank, uint64_t now),
	  (segment, rank, now))
INTERFERE(void, mal_request_ask, (const struct mal_segment *segment, unsigned int rank, bool asks),
	  (segment, rank, asks))
INTERFERE(void, mal_borrower_check, (const struct mal_segment *segment, unsigned int rank),
	  (segment, rank))

/*
 * The ranks' processes are this one: it has no other threads, and is dead where a rank was
 * killed.
 */

#define PID_OF(rank) ((int32_t)(0x700000 + (rank)))

DIR *__wrap_opendir(const char *path);
int __wrap_kill(pid_t pid, int number);
char *__wrap_mal_channel_ask(const char *path, const char *request, int timeout_ms, size_t *length,
			     struct mal_error *err);
bool __wrap_mal_channel_tell(const char *path, const char *request, int timeout_ms);
void __wrap_mal_watch_process(int32_t pid);

DIR *__wrap_opendir(const char *path)
{
	(void)path;
	return NULL;
}

int __wrap_kill(pid_t pid, int number)
{
	(void)number;
	if (!turns_rank[pid - PID_OF(0)].killed)
		return 0;
	errno = ESRCH;
	return -1;
}

char *__wrap_mal_channel_ask(const char *path, const char *request, int timeout_ms, size_t *length,
			     struct mal_error *err)
{
	(void)path, (void)request, (void)timeout_ms, (void)length, (void)err;
	return NULL;
}

bool __wrap_mal_channel_tell(const char *path, const char *request, int timeout_ms)
{
	(void)path, (void)request, (void)timeout_ms;
	return false;
}

void __wrap_mal_watch_process(int32_t pid)
{
	(void)pid;
}

/* An OpenMP runtime. */

static int get_threads(void)
{
	return num_threads[loaded];
}

static void set_threads(int threads)
{
	num_threads[loaded] = threads;
}

static int get_blocktime(void)
{
	return 200;
}

static void set_blocktime(int ms)
{
	(void)ms;
}

const struct mal_runtime *mal_runtime_managed(void)
{
	static const struct mal_runtime managed = {.get_max_threads = get_threads,
						   .set_num_threads = set_threads,
						   .get_blocktime = get_blocktime,
						   .set_blocktime = set_blocktime};

	return &managed;
}

static ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t callback)
{
	if (event == ompt_callback_parallel_begin)
		parallel_begin = (ompt_callback_parallel_begin_t)callback;
	else if (event == ompt_callback_parallel_end)
		parallel_end = (ompt_callback_parallel_end_t)callback;
	else if (event == ompt_callback_implicit_task)
		implicit_task = (ompt_callback_implicit_task_t)callback;
	return ompt_set_always;
}

static ompt_interface_fn_t lookup(const char *name)
{
	return strcmp(name, "ompt_set_callback") == 0 ? (ompt_interface_fn_t)set_callback : NULL;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version, const char *runtime_version);

/* What threads do. */

static const void *place_of_code(unsigned int rank)
{
	return (const char *)turns_rank + 64 * (wheres[rank] * TURNS_RANKS + rank);
}

static void do_begin_region(void)
{
	unsigned int rank = loaded, clause = going[inside].clause, requested;

	requested = clause ? clause : (unsigned int)num_threads[rank];
	parallel_begin(NULL, NULL, &parallels[rank], requested, 0, place_of_code(rank));
	turns_rank[rank].team = clause ? clause : (unsigned int)num_threads[rank];
	turns_rank[rank].in_region = true;
	implicit_task(ompt_scope_begin, &parallels[rank], &tasks[inside], turns_rank[rank].team, 0,
		      0);
	turns_thread[rank * TURNS_THREADS].computing = true;
}

static void do_end_region(void)
{
	unsigned int rank = loaded;

	turns_thread[rank * TURNS_THREADS].computing = false;
	implicit_task(ompt_scope_end, NULL, &tasks[inside], turns_rank[rank].team, 0, 0);
	turns_rank[rank].in_region = false;
	parallel_end(&parallels[rank], NULL, 0, place_of_code(rank));
}

static void do_begin_thread(void)
{
	unsigned int rank = loaded, number = going[inside].number;

	implicit_task(ompt_scope_begin, &parallels[rank], &tasks[inside], turns_rank[rank].team,
		      number, 0);
	turns_thread[inside].computing = true;
}

static void do_end_thread(void)
{
	turns_thread[inside].computing = false;
	implicit_task(ompt_scope_end, NULL, &tasks[inside], turns_rank[loaded].team,
		      going[inside].number, 0);
}

static void do_enter_mpi(void)
{
	turns_rank[loaded].in_mpi = true;
	mal_mpi_enter(true);
}

static void do_poll(void)
{
	mal_mpi_poll();
}

static void do_leave_mpi(void)
{
	mal_mpi_leave(going[inside].flag);
	turns_rank[loaded].in_mpi = false;
}

/* As attach.c has it. */
static void do_leave(void)
{
	mal.active = false;
	mal_cpus_leave(&mal);
	atomic_store(&mal.slot->state, MAL_RANK_ENDED);
	turns_rank[loaded].left = true;
}

static void do_recover(void)
{
	mal_ranks_update(&controller);
}

void turns_begin_region(unsigned int rank, unsigned int where, unsigned int clause)
{
	wheres[rank] = where;
	going[rank * TURNS_THREADS].clause = clause;
	begin(rank * TURNS_THREADS, do_begin_region);
}

void turns_end_region(unsigned int rank)
{
	begin(rank * TURNS_THREADS, do_end_region);
}

void turns_enter_mpi(unsigned int rank)
{
	begin(rank * TURNS_THREADS, do_enter_mpi);
}

void turns_poll(unsigned int rank)
{
	begin(rank * TURNS_THREADS, do_poll);
}

void turns_leave_mpi(unsigned int rank, bool boundary)
{
	going[rank * TURNS_THREADS].flag = boundary;
	begin(rank * TURNS_THREADS, do_leave_mpi);
}

void turns_leave(unsigned int rank)
{
	begin(rank * TURNS_THREADS, do_leave);
}

void turns_begin_thread(unsigned int rank, unsigned int thread)
{
	going[rank * TURNS_THREADS + thread].number = thread;
	begin(rank * TURNS_THREADS + thread, do_begin_thread);
}

void turns_end_thread(unsigned int rank, unsigned int thread)
{
	begin(rank * TURNS_THREADS + thread, do_end_thread);
}

void turns_kill(unsigned int rank)
{
	turns_rank[rank].killed = true;
	for (unsigned int i = rank * TURNS_THREADS; i < (rank + 1) * TURNS_THREADS; i++)
		turns_thread[i].busy = turns_thread[i].computing = false;
}

void turns_recover(void)
{
	begin(TURNS_CONTROLLER, do_recover);
}

static void open_controller(void)
{
	step = (struct mal_step_facts){.arguments = {MAL_ARGUMENTS_NO_FDS},
				       .segment = mal.segment,
				       .allocation = mal.allocation};
	for (unsigned int cpu = 0; cpu < mal.segment.cpu_count; cpu++)
		step.cpu[step.cpu_count++] = cpu;
	memset(&controller, 0, sizeof(controller));
	assert_int_equal(mal_controller_open(&controller, &step, &(struct mal_cpumask){{0}}, NULL),
			 0);
	controller.deciding_own.binds = true;
	mal_ranks_update(&controller);
}

static void open_rank(unsigned int rank, unsigned int each)
{
	struct mal_rank *known = &turns_rank[rank].known;

	num_threads[rank] = (int)each;
	memmove(known, &turns_rank[0].known, sizeof(*known));
	known->me = rank;
	known->slot = &known->segment.ranks[rank];
	known->slot->pid = PID_OF(rank);
	known->threads = thread_of(rank, 0);
	known->home = known->slot->home;
	known->team_own.size = known->team_own.base = 0;
	known->cpus_own.owned_count = each;
	for (unsigned int i = 0; i < each; i++)
		known->cpus_own.owned[i] = (uint16_t)(rank * each + i);
	for (unsigned int i = 0; i < TURNS_THREADS; i++) {
		struct turns_thread *thread = &turns_thread[rank * TURNS_THREADS + i];

		thread->self = (struct mal_thread){
			.tid = tid_of(rank, i), .considered_primary = i == 0, .primary = i == 0};
		test_kernel.at[tid_of(rank, i)] = rank * each;
	}
}

void turns_open(unsigned int each)
{
	memset(turns_rank, 0, sizeof(turns_rank));
	load(0);
	open_ranks(TURNS_RANKS, each, TURNS_THREADS);
	give_way = stop_here;
	inside = NOBODY_INSIDE;
	memset(turns_thread, 0, sizeof(turns_thread));
	mal_region_table_clear();
	memset(parallels, 0, sizeof(parallels));
	for (unsigned int i = 0; i <= TURNS_CONTROLLER; i++)
		make_thread(i);
	ompt_start_tool(5, "test")->initialize(lookup, 0, NULL);
	for (unsigned int rank = 0; rank < TURNS_RANKS; rank++)
		open_rank(rank, each);
	open_controller();
}

void turns_close(void)
{
	mal_controller_close(&controller);
	close_ranks();
}
