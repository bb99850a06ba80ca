/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * objects.c: what the loaded objects use, by their symbols and segments (dl_iterate_phdr(3)).
 *
 * Invariant: a program that is not read, and may tell threads apart, keeps its team
 * (t/unit/test_objects.c: sizes_are_kept; t/t2005-patterns.t).
 */
#include "libmalleable/rank/program/objects.h"

#include <link.h>
#include <stddef.h>

#include "libmalleable/base/symbols.h"
#include "libmalleable/core/elf_file.h"
#include "libmalleable/rank/program/listed.h"
#include "libmalleable/rank/program/parts.h"

/* clang-format off */
static const char *const differs[] = {
	/* libomp 19.1.7 has these, but aborts or hangs programs that use them: platform.md. */
	"GOMP_doacross_", "GOMP_loop_start", "GOMP_loop_ull_start", "GOMP_sections2_start",
	"GOMP_cancel", "omp_fulfill_event",
	/* libgomp writes CPUs otherwise than libomp, and prints to standard error. */
	"omp_capture_affinity", "omp_display_affinity",
	/* libgomp answers otherwise: platform.md. */
	"omp_get_affinity_format", "omp_get_nested", "omp_get_partition_", "omp_get_place_",
	"omp_get_proc_bind", "omp_get_num_places", "omp_get_supported_active_levels",
	"omp_pause_resource", NULL};
/* clang-format on */

static bool is_missing(const char *name, void *libomp)
{
	static const char *const of_gomp[] = {"GOMP_", "omp_", "GOACC_", "acc_", NULL};

	return mal_elf_name_is_of(name, of_gomp) &&
	       (mal_elf_name_is_of(name, differs) || !mal_libomp_has(libomp, name));
}

static int calls_more(struct dl_phdr_info *info, size_t size, void *libomp)
{
	(void)size;
	return mal_part_of_program(info) && mal_symbols_any(info, is_missing, libomp);
}

/* What the program's objects use, bits. */
enum {
	REGIONS = 1,	 /* they open parallel regions */
	NUMBERS = 2,	 /* they ask for thread numbers or numbers of threads */
	THREAD_DATA = 4, /* they keep data for each thread */
	KEYS = 8,	 /* the same, by way of the C library */
	THREADS = 16,	 /* they identify threads by the system's numbers */
	CANCELS = 32,	 /* they may leave loops and regions early */
	TELLS = 64,	 /* they tell threads apart, or might, by any means */
};

static bool note_use(const char *name, void *data)
{
	/* clang-format off */
	static const struct {
		unsigned int use;
		const char *names[24];
	} all[] = {
		{REGIONS, {"__kmpc_fork_call", "__kmpc_fork_teams", "GOMP_parallel",
			   "GOMP_teams_reg"}},
		/*
		 * In Fortran with underscores at the end. A region of one thread is no active one:
		 * in it omp_in_parallel() is false.
		 */
		{NUMBERS, {"omp_get_thread_num", "omp_get_num_threads", "omp_get_max_threads",
			   "omp_get_team_size", "omp_get_ancestor_thread_num", "omp_in_parallel",
			   "omp_get_active_level", "omp_capture_affinity", "omp_display_affinity"}},
		{THREAD_DATA, {"__kmpc_threadprivate", "__emutls_get_address"}},
		{KEYS, {"pthread_setspecific", "tss_set"}},
		{THREADS, {"pthread_self", "thrd_current", "gettid"}},
		{CANCELS, {"__kmpc_cancel"}},
		{TELLS, {"omp_", "GOMP_", "__kmpc_", "kmp_", "MPI_", "PMPI_", "mpi_",
			 "pthread_self", "thrd_", "tss_", "gettid", "pthread_create", "syscall",
			 "getcpu", "sched_", "pthread_getspecific", "setjmp", "_setjmp",
			 "__sigsetjmp", "__emutls_", "__tls_get_addr", "pthread_setspecific"}},
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (mal_elf_name_is_of(name, all[i].names))
			*(unsigned int *)data |= all[i].use;
	return false;
}

static bool has_thread_data(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_phdr[i].p_memsz > 0)
			return true;
	return false;
}

/* All that the symbols and segments of an object show. */
static unsigned int uses_of(const struct dl_phdr_info *info)
{
	unsigned int uses = has_thread_data(info) ? THREAD_DATA | TELLS : 0;

	mal_symbols_any(info, note_use, &uses);
	if (uses & REGIONS && uses & THREADS)
		uses |= NUMBERS;
	if (uses & REGIONS && uses & KEYS)
		uses |= THREAD_DATA;
	return uses;
}

static int note_uses(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	if (mal_part_of_program(info))
		*(unsigned int *)data |= uses_of(info);
	return 0;
}

static int read_changes(struct dl_phdr_info *info, size_t size, void *changes)
{
	(void)size;
	*(unsigned long long *)changes = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

unsigned long long mal_objects_changes(void)
{
	unsigned long long changes = 0;

	dl_iterate_phdr(read_changes, &changes);
	return changes;
}

bool mal_objects_call_more_than(struct mal_libomp *libomp)
{
	return mal_listed_each(calls_more, libomp) != 0;
}

bool mal_object_read(const struct dl_phdr_info *info, struct mal_object *object)
{
	struct mal_symbols symbols;
	unsigned int uses;

	if (!mal_part_of_program(info))
		return false;
	uses = uses_of(info);
	mal_symbols_read(info, &symbols);
	*object = (struct mal_object){.base = info->dlpi_addr,
				      .path = info->dlpi_name,
				      .headers = info->dlpi_phdr,
				      .header_count = info->dlpi_phnum,
				      .dynamic = symbols.entries,
				      .names = symbols.names,
				      .regions = uses & REGIONS,
				      .observes_team = uses & TELLS};
	return true;
}

bool mal_objects_changed(void)
{
	static unsigned long long before;
	unsigned long long changes = mal_objects_changes();
	bool changed = changes != before;

	before = changes;
	return changed;
}

enum mal_mode_reason mal_objects_keep_size(void)
{
	unsigned int uses = 0;

	dl_iterate_phdr(note_uses, &uses);
	if (!(uses & REGIONS))
		return MAL_REASON_NONE;
	if (uses & THREAD_DATA)
		return MAL_REASON_THREAD_DATA;
	if (uses & NUMBERS)
		return MAL_REASON_REPORTED;
	return uses & CANCELS ? MAL_REASON_CANCELS : MAL_REASON_NONE;
}
