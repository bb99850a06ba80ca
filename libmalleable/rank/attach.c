/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * attach.c: a process becomes a rank of a balanced step, and leaves it.
 *
 * Invariant: a rank begins with nothing that the task's earlier program left in its slot
 * (t/unit/test_attach.c: forgets_what_was_begun).
 */
#include "libmalleable/rank/attach.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/futex.h"
#include "libmalleable/base/number.h"
#include "libmalleable/base/patience.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/inside.h"
#include "libmalleable/core/launcher_table.h"
#include "libmalleable/core/request.h"
#include "libmalleable/core/settings.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/children.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/cpus/lanes.h"
#include "libmalleable/rank/cpus/pins.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/pmix/pmix.h"
#include "libmalleable/rank/program/gomp.h"
#include "libmalleable/rank/program/tools.h"
#include "libmalleable/rank/state/rank.h"

struct mal_rank mal;

/* How long the controller may take to pass the segment. */
#define ANSWER_MS 1000
/* Defined by DMTCP, which preloads itself (dmtcp.h). */
int dmtcp_is_enabled(void) __attribute__((weak));

/* Not in mal_rank: set before there is a rank, and if there is none. */
static _Atomic bool tried;

static void warn(const char *node, const char *text, const char *rest)
{
	static _Atomic bool warned;

	if (!atomic_exchange(&warned, true) && !getenv(MAL_ENV_QUIET))
		dprintf(STDERR_FILENO, "balance: %s%s%s%s\n", node, *node ? ": " : "", text, rest);
}

/* In a step over several nodes with this one's name. */
static void warn_unbalanced(const char *why)
{
	char node[65] = "";

	if (getenv(MAL_ENV_NODES))
		gethostname(node, sizeof(node) - 1);
	warn(node, why, "; this rank runs unbalanced");
}

void mal_warn_for_all(const char *text)
{
	if (mal_is_first(environ))
		warn("", text, "");
}

static int open_segment(struct mal_rank *rank, struct mal_error *err)
{
	const char *socket = getenv(MAL_ENV_SOCKET);
	int fd = mal_segment_named(environ), result;

	if (fd < 0)
		mal_fail(err, "%s is wrong", MAL_ENV_SEGMENT_FD);
	else if (mal_segment_open(&rank->segment, fd, err) == 0)
		return 0;
	/* A wrapper may have closed the descriptor: ask the controller for it. */
	fd = socket ? mal_channel_ask_fd(socket, MAL_CHANNEL_SEGMENT, mal_patience_ms(ANSWER_MS),
					 err)
		    : -1;
	if (fd < 0)
		return -1;
	result = mal_segment_open(&rank->segment, fd, err);
	close(fd);
	return result;
}

/*
 * Ask a launcher's PMIx server, such as that of prterun, which sets no variable of an MPI library.
 */
static bool ask_pmix(const struct mal_rank *rank, unsigned int *number, unsigned int *count)
{
	unsigned int local, size;
	bool known;

	if (!mal_launcher_value(environ, MAL_LAUNCHER_RANK) || !mal_pmix_open(true))
		return false;
	known = mal_pmix_local(&local, &size) && local < rank->segment.rank_count &&
		size <= rank->segment.rank_count;
	mal_pmix_close();
	if (known) {
		*number = local;
		*count = size;
	}
	return known;
}

/* The number of ranks on this node, or in the job, which will do where all of it is here. */
static void read_size(struct mal_rank *rank)
{
	unsigned int max = rank->segment.rank_count;

	if (!mal_launcher_number(environ, MAL_LAUNCHER_LOCAL_SIZE, max, &rank->rank_count))
		mal_launcher_number(environ, MAL_LAUNCHER_SIZE, max, &rank->rank_count);
}

/* Whether process PID, which has the slot, is balanced no more. One that only starts is absent. */
static bool has_left(const struct mal_rank *rank, int32_t pid)
{
	uint32_t state = atomic_load(&rank->slot->state);

	return pid <= 0 || state == MAL_RANK_ENDED || state == MAL_RANK_DEAD ||
	       (kill(pid, 0) < 0 && errno == ESRCH);
}

/* Take the slot if it is empty, or if its program has ended or was replaced by this one. */
static int take_slot(struct mal_rank *rank, struct mal_error *err)
{
	int32_t pid = (int32_t)getpid();
	int32_t old = 0;

	rank->slot = &rank->segment.ranks[rank->me];
	while (!atomic_compare_exchange_strong(&rank->slot->pid, &old, pid)) {
		if (old != pid && !has_left(rank, old))
			return mal_fail(err,
					"task %u runs several OpenMP or MPI programs at once: only "
					"the first is balanced",
					rank->me);
	}
	atomic_store(&rank->slot->state, MAL_RANK_ABSENT);
	return 0;
}

/* One of the ranks that no launcher numbers: the first whose slot is free. */
static bool take_free_slot(struct mal_rank *rank)
{
	unsigned int count = rank->segment.rank_count;

	if (!mal_number_parse(getenv(MAL_ENV_RANKS), 1, count, &count))
		return false;
	rank->rank_count = count;
	for (rank->me = 0; rank->me < count; rank->me++)
		if (take_slot(rank, NULL) == 0)
			return true;
	/* No slot is left, which is reported where the first one is tried again. */
	rank->me = 0;
	return true;
}

/*
 * Find our number among the ranks on this node: from Slurm's plugin; else from the launcher's
 * variables, or PMIx; else from the rank in the job, likewise. A program without a launcher takes a
 * free number, or is alone.
 */
static void find_rank(struct mal_rank *rank)
{
	unsigned int max = rank->segment.rank_count - 1;

	rank->rank_count = rank->segment.rank_count;
	if (getenv(MAL_ENV_LOCAL_RANK)) {
		if (mal_number_parse(getenv(MAL_ENV_LOCAL_RANK), 0, max, &rank->me))
			return;
	} else if (mal_launcher_number(environ, MAL_LAUNCHER_LOCAL_RANK, max, &rank->me)) {
		read_size(rank);
		return;
	} else if (ask_pmix(rank, &rank->me, &rank->rank_count)) {
		return;
	} else if (mal_launcher_number(environ, MAL_LAUNCHER_RANK, max, &rank->me)) {
		read_size(rank);
		return;
	} else if (take_free_slot(rank)) {
		return;
	}
	rank->me = 0;
	rank->rank_count = 1;
}

/*
 * The CPUs that we start with. If ranks are not bound (--cpu-bind=none, mpirun) each has all CPUs
 * of the step: rank i of n takes the i-th of n equal parts. Where bits are strict they stay so:
 * such a rank is told another number of threads.
 */
static int choose_home(struct mal_rank *rank, struct mal_error *err)
{
	struct mal_cpumask shared = {{0}}, first_ones = rank->allocation;
	const char *home = getenv(MAL_ENV_HOME);
	unsigned int count, first, last, index = 0;

	if (mal_cpumask_get_affinity(0, &rank->home) < 0)
		return mal_fail_errno(err, "cannot read the rank's CPUs");
	if (home && mal_cpumask_parse(home, &first_ones, err) < 0)
		return -1;
	mal_cpumask_intersect(&first_ones, &rank->allocation);
	mal_cpumask_intersect(&rank->home, &first_ones);
	count = mal_cpumask_count(&rank->home);
	if (!count)
		return mal_fail(err, "the rank has no CPU of its step");
	if (rank->rank_count <= 1 || count < mal_cpumask_count(&first_ones))
		return 0;
	if (rank->bits == MAL_BITS_STRICT && !rank->observe)
		return mal_fail(err, "its tasks are not bound to CPUs, and stay so (bits=strict)");
	if (count < rank->rank_count)
		return mal_fail(err, "%u ranks share %u CPU%s: nothing to balance",
				rank->rank_count, count, mal_plural(count));
	first = rank->me * count / rank->rank_count;
	last = (rank->me + 1) * count / rank->rank_count;
	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(&rank->home, cpu)) < MAL_MAX_CPUS;
	     cpu++, index++)
		if (index >= first && index < last)
			mal_cpumask_add(&shared, cpu);
	rank->home = shared;
	if (rank->observe)
		return 0;
	mal_cpumask_set_affinity(0, &shared);
	/* Who asked for nothing has as many threads as without us. */
	rank->divided = !getenv(MAL_ENV_QUIET);
	return 0;
}

/* Enter our CPUs in the segment. A CPU that another rank owns stays with it. */
static void claim_home(const struct mal_rank *rank)
{
	for (unsigned int cpu = 0; cpu < rank->segment.cpu_count; cpu++) {
		mal_word *word = &rank->segment.cpus[cpu].word;
		uint64_t old = atomic_load(word);
		struct mal_cpu_state state = mal_word_unpack(old);

		if (state.owner == rank->me) {
			/* Left over from a program that this task ran earlier. */
			unsigned int borrower = mal_word_reclaim(word, rank->me);

			if (borrower < rank->segment.rank_count)
				mal_bind_evict(rank, borrower, cpu);
			else if (state.lent)
				mal_free_check(&rank->segment, cpu);
		} else if (mal_cpumask_has(&rank->home, cpu) &&
			   state.owner >= rank->segment.rank_count) {
			mal_word_replace(word, &old,
					 (struct mal_cpu_state){rank->me, rank->me, false});
		}
	}
}

/* Whether a rank that runs has one of our CPUs as its home too. */
static bool home_is_shared(const struct mal_rank *rank)
{
	for (unsigned int number = 0; number < rank->segment.rank_count; number++) {
		const struct mal_rank_slot *slot = &rank->segment.ranks[number];
		struct mal_cpumask both = slot->home;

		mal_cpumask_intersect(&both, &rank->home);
		if (number != rank->me && atomic_load(&slot->state) == MAL_RANK_RUNNING &&
		    mal_cpumask_count(&both))
			return true;
	}
	return false;
}

/*
 * What an earlier program of the task said last holds no more. It may have been killed or replaced
 * in the middle of anything: nobody else would end what it began.
 */
static void forget_earlier_program(const struct mal_rank *rank)
{
	mal_request_forget(&rank->segment, rank->me);
	atomic_store(&rank->slot->binding, 0);
	atomic_store(&rank->slot->foreign_threads, 0);
	atomic_store(&rank->slot->finalized, 0);
	for (unsigned int kind = 0; kind < MAL_BOUNDARY_KINDS; kind++)
		atomic_store(&rank->slot->count.boundaries[kind], 0);
	atomic_store(&rank->slot->proves, MAL_PROVES_NOT);
	atomic_store(&rank->slot->unread, false);
	atomic_store(&rank->slot->beside_ms, 0);
	atomic_store(&rank->slot->differs, 0);
	rank->slot->bound_reason[0] = '\0';
}

static void forget_in_child(void)
{
	mal_children_forked();
	mal.active = false;
}

static void leave(struct mal_rank *rank)
{
	if (!rank->active || rank->slot->pid != getpid())
		return;
	rank->active = false;
	mal_phase_end(rank);
	mal_cpus_leave(rank);
	mal_futex_post(&rank->segment.header->wake);
}

static void read_mode(struct mal_rank *rank)
{
	const char *mode = getenv(MAL_ENV_MODE);

	if (!mode)
		return;
	if (strcmp(mode, "team") == 0)
		rank->mode = MAL_MODE_TEAM;
	else if (strcmp(mode, "cpuset") == 0)
		rank->mode = MAL_MODE_CPUSET;
	else if (strcmp(mode, "observe") == 0)
		rank->observe = true;
}

static void read_bits(struct mal_rank *rank)
{
	const char *bits = getenv(MAL_ENV_BITS);

	rank->bits = !bits			 ? MAL_BITS_FREE
		     : strcmp(bits, "keep") == 0 ? MAL_BITS_KEEP
						 : MAL_BITS_STRICT;
}

static int attach(struct mal_rank *rank, struct mal_error *err)
{
	const char *cpus = getenv(MAL_ENV_CPUS);
	struct mal_cpumask before;

	mal_clock_open();
	mal_patience_take(getenv(MAL_ENV_PATIENCE));
	if (!cpus || mal_cpumask_parse(cpus, &rank->allocation, err) < 0)
		return mal_fail(err, "%s is missing or wrong", MAL_ENV_CPUS);
	if (open_segment(rank, err) < 0)
		return -1;
	find_rank(rank);
	rank->threads = mal_thread_slot(&rank->segment, rank->me, 0);
	read_mode(rank);
	read_bits(rank);
	mal_gomp_unbind();
	if (mal_cpumask_get_affinity(0, &before) < 0)
		return mal_fail_errno(err, "cannot read the rank's CPUs");
	if (choose_home(rank, err) < 0 || take_slot(rank, err) < 0)
		return -1;
	forget_earlier_program(rank);
	mal_pins_open(rank, &before);
	for (unsigned int i = 0; i < rank->segment.thread_count; i++) {
		atomic_store(&rank->threads[i].tid, 0);
		atomic_store(&rank->threads[i].cpu, MAL_NO_CPU);
	}
	mal_lanes_open(rank);
	mal_bind_forget(rank);
	rank->slot->home = rank->home;
	atomic_store(&rank->slot->reason,
		     rank->mode == MAL_MODE_CPUSET ? MAL_REASON_USER : MAL_REASON_NONE);
	atomic_store(&rank->slot->unmanaged, false);
	claim_home(rank);
	mal_cpus_outdate(rank);
	mal_cpus_refresh(rank);
	/* CPUs that others got while this rank was away are the controller's to give back. */
	if (!rank->cpus.owned_count && home_is_shared(rank)) {
		atomic_store(&rank->slot->pid, 0);
		return mal_fail(err, "other ranks already have this rank's CPUs");
	}
	atomic_store(&rank->slot->state, MAL_RANK_RUNNING);
	mal_futex_post(&rank->segment.header->wake);
	return 0;
}

void mal_attach_behind(const void *tool)
{
	snprintf(mal.slot->bound_reason, sizeof(mal.slot->bound_reason), "OMPT tool %s goes first",
		 mal_tools_file(tool));
	atomic_store(&mal.slot->reason, MAL_REASON_TOOL);
	mal_warn_for_all("another OMPT tool goes first: " MAL_NOT_TIMED);
}

void mal_attach(void)
{
	struct mal_error err;
	int saved = errno;

	if (atomic_load_explicit(&tried, memory_order_relaxed) || atomic_exchange(&tried, true))
		return;
	/* A daemon may have outlived its step since it was executed. */
	if (!mal_inside())
		return;
	/* Restarted elsewhere, the rank would find neither its segment nor its CPUs. */
	if (dmtcp_is_enabled && dmtcp_is_enabled()) {
		mal_warn_for_all(
			"DMTCP takes checkpoints of the program; its ranks run unbalanced");
	} else if (attach(&mal, &err) == 0) {
		mal.active = true;
		pthread_atfork(mal_children_fork, mal_children_fork_done, forget_in_child);
		if (mal_tools_before())
			mal_attach_behind(mal_tools_before());
	} else {
		/* A task may run hundreds of programs: the first one's line will do for all. */
		if (!mal.segment.header || !atomic_exchange(&mal.segment.header->refused, true))
			warn_unbalanced(err.text);
	}
	errno = saved;
}

__attribute__((destructor)) static void at_exit(void)
{
	leave(&mal);
}
