/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rank_fixture.c: a node in plain memory for tests of the rank library. */
#include "t/unit/rank_fixture.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/core/request.h"
#include "libmalleable/rank/program/region_calls.h"

struct test_clock test_clock;
struct test_kernel test_kernel;
void (*while_binding)(void);
void (*while_changing)(void);
void (*give_way)(void);
long (*asks_for_pages)(size_t count, char **pages, const int *to, int *node);

/* attach.c has them, where that is linked. */
__attribute__((weak)) struct mal_rank mal;
__attribute__((weak)) __thread struct mal_thread mal_self;
/* And region_calls.c this. */
__attribute__((weak)) __thread const void *mal_region_called;

int __wrap_mal_bind_thread(pid_t tid, unsigned int cpu);
int __wrap_mal_cpumask_set_affinity(pid_t tid, const struct mal_cpumask *mask);
int __wrap_mal_cpumask_get_affinity(pid_t tid, struct mal_cpumask *mask);
void __wrap_mal_free_check(const struct mal_segment *segment, unsigned int cpu);
void __real_mal_free_check(const struct mal_segment *segment, unsigned int cpu);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_sched_getcpu(void);
long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);

static void call_and_forget(void (**what)(void))
{
	void (*call)(void) = *what;

	*what = NULL;
	if (call)
		call();
}

static void let_others(void)
{
	if (give_way)
		give_way();
}

static unsigned int index_of(pid_t tid)
{
	if (!tid)
		tid = test_kernel.caller;
	return tid > 0 && (unsigned int)tid < TIDS ? (unsigned int)tid : 0;
}

int __wrap_mal_bind_thread(pid_t tid, unsigned int cpu)
{
	unsigned int index = index_of(tid);

	call_and_forget(&while_binding);
	let_others();
	test_kernel.at[index] = cpu;
	test_kernel.binds++;
	memset(&test_kernel.mask[index], 0, sizeof(test_kernel.mask[index]));
	mal_cpumask_add(&test_kernel.mask[index], cpu);
	let_others();
	return 0;
}

int __wrap_mal_cpumask_set_affinity(pid_t tid, const struct mal_cpumask *mask)
{
	call_and_forget(&while_binding);
	test_kernel.mask[index_of(tid)] = *mask;
	return 0;
}

int __wrap_mal_cpumask_get_affinity(pid_t tid, struct mal_cpumask *mask)
{
	*mask = test_kernel.mask[index_of(tid)];
	if (!test_kernel.ended[index_of(tid)])
		return 0;
	errno = ESRCH;
	return -1;
}

void __wrap_mal_free_check(const struct mal_segment *segment, unsigned int cpu)
{
	call_and_forget(&while_changing);
	let_others();
	__real_mal_free_check(segment, cpu);
}

/* A thread that has ended has no clock. Those with numbers of the test's are not the kernel's. */
static bool has_ended(clockid_t clock)
{
	unsigned int tid = ~((unsigned int)clock >> 3 | 7u << 29);

	if (clock >= 0 || !(clock & 4))
		return false;
	return tid < TIDS ? test_kernel.ended[tid]
			  : __real_syscall(SYS_tgkill, getpid(), tid, 0) < 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	uint64_t ns = clock == CLOCK_PROCESS_CPUTIME_ID ? test_clock.process : test_clock.now;

	if (has_ended(clock))
		return -1;
	if (clock < 0 || clock == CLOCK_THREAD_CPUTIME_ID)
		ns = test_clock.thread;
	else
		test_clock.now += test_clock.step;
	*time = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
	(void)rest;
	test_kernel.naps++;
	turn_clock((uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec);
	let_others();
	return 0;
}

/* Where the calling thread was bound last. */
int __wrap_sched_getcpu(void)
{
	return (int)test_kernel.at[index_of(0)];
}

static long futex(long operation, const struct timespec *timeout)
{
	if (operation) {
		test_kernel.wakes++;
		return 0;
	}
	test_kernel.naps++;
	turn_clock((uint64_t)timeout->tv_sec * 1000000000 + (uint64_t)timeout->tv_nsec);
	let_others();
	return 0;
}

/* It reads more arguments than some callers pass. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	switch (number) {
	case SYS_futex: return futex(a[1], (const struct timespec *)a[3]);
	case SYS_gettid: return test_kernel.caller ? test_kernel.caller : __real_syscall(number);
	case SYS_tgkill: return test_kernel.ended[index_of((pid_t)a[1])] ? -1 : 0;
	case SYS_move_pages:
		return asks_for_pages((size_t)a[1], (char **)a[2], (const int *)a[3], (int *)a[4]);
	case SYS_sched_yield:
		test_kernel.yields++;
		turn_clock(US);
		let_others();
		return 0;
	default: return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
}

void *memory_for(size_t size)
{
	void *memory = aligned_alloc(MAL_CACHE_LINE,
				     (size + MAL_CACHE_LINE - 1) / MAL_CACHE_LINE * MAL_CACHE_LINE);

	assert_non_null(memory);
	return memset(memory, 0, size);
}

void turn_clock(uint64_t ns)
{
	test_clock.now += ns;
}

mal_word *word_of(unsigned int cpu)
{
	return &mal.segment.cpus[cpu].word;
}

struct mal_cpu_state cpu_state(unsigned int cpu)
{
	return mal_word_read(word_of(cpu));
}

struct mal_thread_slot *thread_of(unsigned int rank, unsigned int thread)
{
	return mal_thread_slot(&mal.segment, rank, thread);
}

int32_t tid_of(unsigned int rank, unsigned int thread)
{
	return (int32_t)(1 + rank * mal.segment.thread_count + thread);
}

bool asks(unsigned int rank)
{
	return mal_request_read(&mal.segment, rank).asks;
}

bool is_borrower(unsigned int rank)
{
	return mal_request_read(&mal.segment, rank).borrower;
}

void let_borrow(unsigned int rank)
{
	mal_borrower_set(&mal.segment, rank, true);
}

void open_region(unsigned int rank)
{
	let_borrow(rank);
	mal_request_open(&mal.segment, rank, 1, 0, 1, true);
}

void put_thread(unsigned int rank, unsigned int thread, unsigned int cpu)
{
	struct mal_thread_slot *slot = thread_of(rank, thread);

	slot->tid = tid_of(rank, thread);
	slot->cpu = slot->bound_cpu = cpu;
	test_kernel.at[slot->tid] = cpu;
}

uint32_t where_is(unsigned int rank, unsigned int thread)
{
	return test_kernel.at[thread_of(rank, thread)->tid];
}

static void fill_rank(unsigned int rank, unsigned int each)
{
	struct mal_rank_slot *slot = &mal.segment.ranks[rank];

	slot->pid = (int32_t)getpid();
	slot->state = MAL_RANK_RUNNING;
	for (unsigned int cpu = rank * each; cpu < (rank + 1) * each; cpu++)
		mal_cpumask_add(&slot->home, cpu);
	for (unsigned int i = 0; i < mal.segment.thread_count; i++)
		thread_of(rank, i)->cpu = thread_of(rank, i)->bound_cpu = thread_of(rank, i)->home =
			MAL_NO_CPU;
}

void open_ranks(unsigned int ranks, unsigned int each, unsigned int threads)
{
	unsigned int cpus = ranks * each;

	assert_in_range(ranks * threads, 1, TIDS - 1);
	mal_clock_is_tsc = false;
	test_clock = (struct test_clock){.now = 1000 * MS};
	test_kernel = (struct test_kernel){.caller = 1};
	while_binding = while_changing = give_way = NULL;
	memset(&mal, 0, sizeof(mal));
	memset(&mal_self, 0, sizeof(mal_self));
	mal.segment = (struct mal_segment){
		.header = memory_for(sizeof(struct mal_header)),
		.cpus = memory_for(cpus * sizeof(struct mal_cpu_slot)),
		.requests = memory_for(ranks * sizeof(struct mal_request_slot)),
		.ranks = memory_for(ranks * sizeof(struct mal_rank_slot)),
		.threads = memory_for(ranks * threads * sizeof(struct mal_thread_slot)),
		.regions = memory_for((size_t)ranks * MAL_NAMED_REGIONS *
				      sizeof(struct mal_region_slot)),
		.rank_count = ranks,
		.cpu_count = cpus,
		.thread_count = threads};
	mal.segment.lanes = memory_for(ranks * mal_lanes_size(&mal.segment));
	mal.segment.header->rules =
		MAL_RULE_READY | MAL_RULE_BIND | MAL_RULE_LEND | MAL_RULE_GROW | MAL_RULE_AWAIT;
	mal.active = true;
	mal.rank_count = ranks;
	mal.slot = &mal.segment.ranks[0];
	mal.threads = thread_of(0, 0);
	mal_self.tid = tid_of(0, 0);
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		mal_word_set(word_of(cpu), (struct mal_cpu_state){cpu / each, cpu / each, false});
		mal.segment.cpus[cpu].target = MAL_NOBODY;
		mal.segment.cpus[cpu].core = cpu;
		mal_cpumask_add(&mal.allocation, cpu);
	}
	for (unsigned int rank = 0; rank < ranks; rank++)
		fill_rank(rank, each);
	mal.home = mal.slot->home;
	for (; mal.cpus.owned_count < each; mal.cpus_own.owned_count++)
		mal.cpus_own.owned[mal.cpus.owned_count] = (uint16_t)mal.cpus.owned_count;
	mal.team_own.size = mal.team_own.base = each;
}

void close_ranks(void)
{
	free(mal.segment.header);
	free(mal.segment.cpus);
	free(mal.segment.ranks);
	free((void *)mal.segment.requests);
	free(mal.segment.threads);
	free(mal.segment.regions);
	free(mal.segment.lanes);
	memset(&mal.segment, 0, sizeof(mal.segment));
	mal.active = false;
	give_way = NULL;
}
