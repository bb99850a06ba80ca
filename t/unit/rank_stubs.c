/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rank_stubs.c: the rank library's functions as they are where there is nothing to do. Whatever a
 * test links or defines replaces its own.
 */
#include <errno.h>
#include <stddef.h>

#include "libmalleable/prover/prove.h"
#include "libmalleable/prover/rank/region_verdicts.h"
#include "libmalleable/rank/asleep.h"
#include "libmalleable/rank/attach.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/borrower_use.h"
#include "libmalleable/rank/cpus/children.h"
#include "libmalleable/rank/cpus/cpus.h"
#include "libmalleable/rank/cpus/lanes.h"
#include "libmalleable/rank/cpus/pins.h"
#include "libmalleable/rank/cpus/sibling_threads.h"
#include "libmalleable/rank/cpus/signals.h"
#include "libmalleable/rank/cpus/threads.h"
#include "libmalleable/rank/cpus/unmanaged.h"
#include "libmalleable/rank/lend.h"
#include "libmalleable/rank/length.h"
#include "libmalleable/rank/listeners.h"
#include "libmalleable/rank/mpi_test_loops.h"
#include "libmalleable/rank/named_regions.h"
#include "libmalleable/rank/offered.h"
#include "libmalleable/rank/outside.h"
#include "libmalleable/rank/pages.h"
#include "libmalleable/rank/phase.h"
#include "libmalleable/rank/pmix/pmix.h"
#include "libmalleable/rank/pmix/summary.h"
#include "libmalleable/rank/primary.h"
#include "libmalleable/rank/program/gomp.h"
#include "libmalleable/rank/program/objects.h"
#include "libmalleable/rank/program/reveal.h"
#include "libmalleable/rank/program/runtime.h"
#include "libmalleable/rank/program/tools.h"
#include "libmalleable/rank/region.h"
#include "libmalleable/rank/state/rank.h"
#include "libmalleable/rank/team.h"
#include "libmalleable/rank/wait.h"
#include "libmalleable/rank/wait_helper.h"

/* A function that takes ARGUMENTS, uses none, and answers ANSWER. */
#define STUB(type, name, arguments, answer) \
	__attribute__((weak)) type name arguments \
	{ \
		return answer; \
	}
#define NOTHING

#pragma GCC diagnostic ignored "-Wunused-parameter"

static const struct mal_runtime no_runtime;

/* state/rank.h */
STUB(void, mal_attach, (void), NOTHING)
STUB(void, mal_attach_behind, (const void *tool), NOTHING)
STUB(void, mal_warn_for_all, (const char *text), NOTHING)
STUB(bool, mal_become_primary, (struct mal_rank * rank), false)
/* cpus/ */
STUB(bool, mal_bind_team, (struct mal_rank * rank, unsigned int team), false)
STUB(void, mal_bind_self, (const struct mal_rank *rank, struct mal_thread_slot *slot), NOTHING)
STUB(void, mal_bind_new_thread, (const struct mal_rank *rank), NOTHING)
STUB(void, mal_bind_forget, (struct mal_rank * rank), NOTHING)
STUB(unsigned int, mal_bind_evict,
     (const struct mal_rank *rank, unsigned int borrower, uint32_t cpu), 0)
STUB(bool, mal_bind_widen, (const struct mal_rank *rank, const struct mal_cpumask *wanted), false)
STUB(void, mal_bind_other_threads, (const struct mal_rank *rank), NOTHING)
STUB(void, mal_bind_narrow, (const struct mal_rank *rank), NOTHING)
STUB(void, mal_bind_let_count, (struct mal_rank * rank, int (*count)(void)), NOTHING)
STUB(bool, mal_bind_is_ours,
     (const struct mal_rank *rank, int32_t tid, const struct mal_cpumask *mask), false)
STUB(void, mal_children_fork, (void), NOTHING)
STUB(void, mal_children_fork_done, (void), NOTHING)
STUB(void, mal_children_forked, (void), NOTHING)
STUB(bool, mal_cpus_refresh, (struct mal_rank * rank), false)
STUB(unsigned int, mal_cpus_borrow, (struct mal_rank * rank, unsigned int limit), 0)
STUB(void, mal_cpus_release, (struct mal_rank * rank), NOTHING)
STUB(void, mal_cpus_release_beyond, (struct mal_rank * rank, unsigned int kept), NOTHING)
STUB(void, mal_cpus_apply_plan, (struct mal_rank * rank), NOTHING)
STUB(void, mal_cpus_leave, (struct mal_rank * rank), NOTHING)
STUB(unsigned int, mal_cpus_to_use, (const struct mal_rank *rank, unsigned int cpus), cpus)
STUB(void, mal_pins_open, (const struct mal_rank *rank, const struct mal_cpumask *mask), NOTHING)
STUB(void, mal_pins_give,
     (const struct mal_rank *rank, unsigned int number, const struct mal_cpumask *mask), NOTHING)
STUB(bool, mal_pins_keep, (const struct mal_rank *rank, unsigned int number, int32_t tid), false)
STUB(struct mal_pin, mal_pins_set,
     (const struct mal_rank *rank, int32_t tid, const struct mal_cpumask *mask),
     (struct mal_pin){0})
STUB(void, mal_pins_undo, (const struct mal_rank *rank, const struct mal_pin *pin), NOTHING)
STUB(bool, mal_pins_inherit, (const struct mal_rank *rank, struct mal_cpumask *mask), false)
STUB(unsigned int, mal_threads_peak, (void), 1)
STUB(void, mal_signals_show, (const struct mal_rank *rank), NOTHING)
STUB(void, mal_signals_hide, (void), NOTHING)
STUB(bool, mal_threads_start_own, (void *(*function)(void *)), true)
STUB(bool, mal_threads_have_room,
     (const struct mal_rank *rank, unsigned int team, unsigned int spare, size_t stack), true)
STUB(void, mal_threads_ignore, (const struct mal_rank *rank), NOTHING)
STUB(void, mal_threads_spare_self, (void), NOTHING)
STUB(void, mal_threads_end_primary, (void), NOTHING)
STUB(bool, mal_borrower_may, (const struct mal_rank *rank, unsigned int number, uint64_t now), true)
STUB(bool, mal_borrower_uses, (const struct mal_rank *rank, unsigned int number, uint64_t now),
     true)
STUB(bool, mal_others_sleep, (const struct mal_rank *rank), true)
STUB(bool, mal_all_sleep, (const struct mal_rank *rank), true)
STUB(bool, mal_others_compute, (const struct mal_rank *rank, uint64_t ns), false)
STUB(bool, mal_thread_sleeps, (int32_t tid), true)
STUB(unsigned int, mal_thread_cpu, (int32_t tid), MAL_NO_CPU)
STUB(int32_t, mal_threads_background_tid, (void), 0)
STUB(uint64_t, mal_threads_background_ns, (void), 0)
STUB(void, mal_unmanaged_open, (struct mal_rank * rank), NOTHING)
STUB(void, mal_lanes_open, (struct mal_rank * rank), NOTHING)
STUB(void, mal_lanes_thread, (const struct mal_rank *rank, unsigned int index), NOTHING)
STUB(void, mal_lanes_sample, (struct mal_rank * rank), NOTHING)
STUB(void, mal_unmanaged_sample, (struct mal_rank * rank, struct mal_snapshot *snapshot), NOTHING)
STUB(void, mal_unmanaged_wait, (struct mal_rank * rank, uint64_t ticks), NOTHING)
STUB(void, mal_unmanaged_wait_end, (struct mal_rank * rank, uint64_t ticks), NOTHING)
STUB(void, mal_unmanaged_call_begin, (const struct mal_rank *rank), NOTHING)
STUB(void, mal_unmanaged_bound, (struct mal_rank * rank), NOTHING)
STUB(void, mal_unmanaged_call_end, (struct mal_rank * rank), NOTHING)
STUB(void, mal_unmanaged_wish, (struct mal_rank * rank, unsigned int max), NOTHING)
STUB(bool, mal_unmanaged_is_idle, (struct mal_rank * rank), true)
/* program/ */
STUB(bool, mal_objects_call_more_than, (struct mal_libomp * libomp), false)
STUB(bool, mal_objects_changed, (void), false)
STUB(enum mal_mode_reason, mal_objects_keep_size, (void), MAL_REASON_NONE)
STUB(bool, mal_regions_open, (struct mal_reader_share share, const char **trouble), false)
STUB(struct mal_region_verdict, mal_region_of, (const void *function),
     (struct mal_region_verdict){0})
STUB(void, mal_region_why, (const void *function, char *text, size_t size), NOTHING)
STUB(bool, mal_regions_are_unread, (void), false)
STUB(bool, mal_regions_are_free, (char *text, size_t size), false)
STUB(const struct mal_runtime *, mal_runtime_managed, (void), &no_runtime)
STUB(const struct mal_runtime *, mal_runtime_of, (const void *caller), NULL)
STUB(bool, mal_runtime_manage, (const void *caller), true)
STUB(bool, mal_runtime_read, (const void *address, struct mal_runtime *runtime), false)
STUB(const struct mal_runtime *, mal_gomp_original, (const struct mal_runtime *runtime), NULL)
STUB(enum mal_mode_reason, mal_gomp_kept, (void), MAL_REASON_NONE)
STUB(void, mal_gomp_unbind, (void), NOTHING)
STUB(bool, mal_gomp_is_replacement, (const void *caller), false)
STUB(bool, mal_gomp_manages, (const void *caller), true)
STUB(void, mal_gomp_runtime_starts, (void), NOTHING)
STUB(void, mal_gomp_runtime_started, (void), NOTHING)
STUB(void *, mal_tools_start, (unsigned int version, const char *runtime), NULL)
STUB(const void *, mal_tools_before, (void), NULL)
STUB(const char *, mal_tools_file, (const void *address), "")
/* pmix/ */
STUB(void, mal_summary_begin, (void), NOTHING)
STUB(void, mal_summary_end, (void (*progress)(void), void (*poll)(void)), NOTHING)
STUB(bool, mal_pmix_open, (bool load), false)
STUB(void, mal_pmix_close, (void), NOTHING)
STUB(bool, mal_pmix_local, (unsigned int *rank, unsigned int *count), false)
/* rank/ */
STUB(void, mal_call_begin, (void), NOTHING)
STUB(void, mal_call_end, (void), NOTHING)
STUB(void, mal_wait_begin, (uint64_t ago), NOTHING)
STUB(void, mal_wait_poll, (void), NOTHING)
STUB(void, mal_wait_abandon, (struct mal_rank * rank), NOTHING)
STUB(bool, mal_wait_is_abandoned, (const struct mal_rank *rank), false)
STUB(bool, mal_listeners_add, (mal_listener * function, void *argument), false)
STUB(void, mal_listeners_remove, (mal_listener * function, void *argument), NOTHING)
STUB(bool, mal_listeners_any, (void), false)
STUB(void, mal_listeners_tell, (int cpus), NOTHING)
STUB(void, mal_listeners_left, (void), NOTHING)
STUB(void, mal_pages_sample, (struct mal_rank * rank, uint64_t now), NOTHING)
STUB(void, mal_pages_look_next, (struct mal_rank * rank), NOTHING)
STUB(void, mal_named_sample, (const struct mal_rank *rank), NOTHING)
STUB(void, mal_asleep_begin, (struct mal_rank * rank), NOTHING)
STUB(void, mal_asleep_end, (struct mal_rank * rank), NOTHING)
STUB(int, mal_offer_begin, (struct mal_rank * rank, bool blocks), 0)
STUB(bool, mal_offer_end, (void), false)
STUB(void, mal_offer_time_next, (struct mal_rank * rank), NOTHING)
STUB(void, mal_wait_helper_begin, (struct mal_rank * rank), NOTHING)
STUB(void, mal_wait_helper_expect, (struct mal_rank * rank), NOTHING)
STUB(void, mal_wait_helper_wake, (struct mal_rank * rank), NOTHING)
STUB(void, mal_wait_helper_withdraw, (struct mal_rank * rank), NOTHING)
STUB(void, mal_wait_helper_end, (struct mal_rank * rank), NOTHING)
STUB(void, mal_outside_look_at_polls, (struct mal_rank * rank, uint64_t now), NOTHING)
STUB(void, mal_outside_sample, (struct mal_rank * rank, struct mal_snapshot *snapshot), NOTHING)
STUB(void, mal_phase_boundary, (enum mal_boundary_kind kind), NOTHING)
STUB(void, mal_phase_count_calls, (struct mal_rank * rank), NOTHING)
STUB(void, mal_phase_end, (struct mal_rank * rank), NOTHING)
STUB(void, mal_phase_follow_plan, (struct mal_rank * rank), NOTHING)
STUB(void, mal_phase_look_outside, (struct mal_rank * rank), NOTHING)
STUB(void, mal_phase_region, (const void *where), NOTHING)
STUB(void, mal_prove, (void), NOTHING)
STUB(void, mal_reveal, (void), NOTHING)
STUB(void, mal_prove_reported_one, (void), NOTHING)
STUB(struct mal_region_verdict, mal_prove_region, (const void *key),
     (struct mal_region_verdict){.stays = true})
STUB(void, mal_prove_note_bound, (const void *key), NOTHING)
STUB(bool, mal_prove_all_free, (void), false)
STUB(void, mal_region_begin, (const void *where, unsigned int requested), NOTHING)
STUB(void, mal_region_resized, (struct mal_rank * rank, unsigned int size), NOTHING)
STUB(void, mal_region_end, (const void *where), NOTHING)
STUB(bool, mal_length_is_mostly_short, (void), false)
STUB(void, mal_team_open, (struct mal_rank * rank), NOTHING)
STUB(bool, mal_team_is_free, (const struct mal_rank *rank), true)
STUB(bool, mal_team_may_differ, (const struct mal_rank *rank), true)
STUB(bool, mal_team_is_mostly_free, (const struct mal_rank *rank), false)
STUB(unsigned int, mal_team_max, (const struct mal_rank *rank), 0)
STUB(void, mal_team_set, (struct mal_rank * rank, unsigned int threads),
     (void)(mal.team_own.size = threads))
STUB(void, mal_team_follow, (struct mal_rank * rank, unsigned int cpus), NOTHING)
STUB(bool, mal_team_set_linger, (struct mal_rank * rank, enum mal_linger linger), false)
STUB(void, mal_team_set_schedule, (struct mal_rank * rank, uint32_t schedule), NOTHING)
STUB(unsigned int, mal_team_clamp, (struct mal_rank * rank, unsigned int threads), threads)
STUB(void, mal_team_look, (struct mal_rank * rank), NOTHING)
STUB(bool, mal_team_hides_size, (void), true)
STUB(void, mal_team_hide_size, (void), NOTHING)
__thread signed char mal_mpi_in_test __attribute__((weak));
STUB(void, mal_mpi_end_tests, (void), NOTHING)
STUB(bool, mal_mpi_tests_take, (bool wait), false)
STUB(void, mal_mpi_yielded, (uint64_t ticks), NOTHING)
STUB(void, mal_mpi_look_back, (const void *frame), NOTHING)
STUB(void, mal_mpi_unwound, (void), NOTHING)
