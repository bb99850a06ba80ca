/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* objects.c: what the loaded objects use, by their symbols and segments (dl_iterate_phdr(3)). */
#include "libmalleable/rank/program/objects.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libmalleable/core/elf_file.h"
#include "libmalleable/rank/program/listed.h"
#include "libmalleable/rank/program/parts.h"
#include "libmalleable/rank/program/symbols.h"

/* libomp 19.1.7 has these, but aborts or hangs programs that use them: doc/notes/platform.md. */
static bool is_broken(const char *name)
{
	static const char *const broken[] = {"GOMP_doacross_",
					     "GOMP_loop_start",
					     "GOMP_loop_ull_start",
					     "GOMP_sections2_start",
					     "GOMP_cancel",
					     "omp_fulfill_event",
					     NULL};

	return mal_elf_name_is_of(name, broken);
}

/* libgomp writes CPUs otherwise than libomp, and prints to standard error. */
static bool is_written_otherwise(const char *name)
{
	static const char *const written[] = {"omp_capture_affinity", "omp_display_affinity", NULL};

	return mal_elf_name_is_of(name, written);
}

static bool is_missing(const char *name, void *libomp)
{
	bool of_gomp = strncmp(name, "GOMP_", 5) == 0 || strncmp(name, "omp_", 4) == 0 ||
		       strncmp(name, "GOACC_", 6) == 0 || strncmp(name, "acc_", 4) == 0;

	return of_gomp &&
	       (is_broken(name) || is_written_otherwise(name) || !mal_libomp_has(libomp, name));
}

static int calls_more(struct dl_phdr_info *info, size_t size, void *libomp)
{
	(void)size;
	return mal_part_of_program(info) && mal_symbols_any(info, is_missing, libomp);
}

/* What the program's objects use. */
struct uses {
	bool regions;	  /* they open parallel regions */
	bool numbers;	  /* they ask for thread numbers or numbers of threads */
	bool thread_data; /* they keep data for each thread */
	bool keys;	  /* the same, by way of the C library */
	bool threads;	  /* they identify threads by the system's numbers */
	bool cancels;	  /* they may leave loops and regions early */
	bool tells;	  /* they tell threads apart, or might, by any means */
};

static bool note_use(const char *name, void *data)
{
	static const char *const regions[] = {"__kmpc_fork_call", "__kmpc_fork_teams",
					      "GOMP_parallel", "GOMP_teams_reg", NULL};
	/*
	 * In Fortran with underscores at the end. A region of one thread is no active one: in it
	 * omp_in_parallel() is false.
	 */
	static const char *const numbers[] = {"omp_get_thread_num",	     "omp_get_num_threads",
					      "omp_get_max_threads",	     "omp_get_team_size",
					      "omp_get_ancestor_thread_num", "omp_in_parallel",
					      "omp_get_active_level",	     "omp_capture_affinity",
					      "omp_display_affinity",	     NULL};
	static const char *const thread_data[] = {"__kmpc_threadprivate", "__emutls_get_address",
						  NULL};
	static const char *const keys[] = {"pthread_setspecific", "tss_set", NULL};
	static const char *const threads[] = {"pthread_self", "thrd_current", "gettid", NULL};
	static const char *const cancels[] = {"__kmpc_cancel", NULL};
	static const char *const tells[] = {"omp_",
					    "GOMP_",
					    "__kmpc_",
					    "kmp_",
					    "MPI_",
					    "PMPI_",
					    "mpi_",
					    "pthread_self",
					    "thrd_",
					    "tss_",
					    "gettid",
					    "pthread_create",
					    "syscall",
					    "getcpu",
					    "sched_",
					    "pthread_getspecific",
					    "setjmp",
					    "_setjmp",
					    "__sigsetjmp",
					    "__emutls_",
					    "__tls_get_addr",
					    "pthread_setspecific",
					    NULL};
	struct uses *uses = data;

	uses->threads |= mal_elf_name_is_of(name, threads);
	uses->regions |= mal_elf_name_is_of(name, regions);
	uses->numbers |= mal_elf_name_is_of(name, numbers);
	uses->thread_data |= mal_elf_name_is_of(name, thread_data);
	uses->keys |= mal_elf_name_is_of(name, keys);
	uses->cancels |= mal_elf_name_is_of(name, cancels);
	uses->tells |= mal_elf_name_is_of(name, tells);
	return false;
}

static bool has_thread_data(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_phdr[i].p_memsz > 0)
			return true;
	return false;
}

static int note_uses(struct dl_phdr_info *info, size_t size, void *data)
{
	struct uses *all = data, uses = {false};

	(void)size;
	if (!mal_part_of_program(info))
		return 0;
	uses.thread_data = has_thread_data(info);
	mal_symbols_any(info, note_use, &uses);
	all->regions |= uses.regions;
	all->numbers |= uses.numbers || (uses.regions && uses.threads);
	all->thread_data |= uses.thread_data || (uses.regions && uses.keys);
	all->cancels |= uses.cancels;
	return 0;
}

static int read_changes(struct dl_phdr_info *info, size_t size, void *changes)
{
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs))
		*(unsigned long long *)changes = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

unsigned long long mal_objects_changes(void)
{
	static unsigned long long unknown;
	unsigned long long changes = ++unknown;

	dl_iterate_phdr(read_changes, &changes);
	return changes;
}

bool mal_objects_call_more_than(struct mal_libomp *libomp)
{
	return mal_listed_each(calls_more, libomp) != 0;
}

bool mal_object_read(const struct dl_phdr_info *info, struct mal_object *object)
{
	struct uses uses = {false};
	struct mal_symbols symbols;

	if (!mal_part_of_program(info))
		return false;
	mal_symbols_any(info, note_use, &uses);
	mal_symbols_read(info, &symbols);
	*object = (struct mal_object){.base = info->dlpi_addr,
				      .path = info->dlpi_name,
				      .headers = info->dlpi_phdr,
				      .header_count = info->dlpi_phnum,
				      .dynamic = symbols.entries,
				      .names = symbols.names,
				      .regions = uses.regions,
				      .tells = uses.tells || has_thread_data(info)};
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
	struct uses uses = {false};

	dl_iterate_phdr(note_uses, &uses);
	if (!uses.regions)
		return MAL_REASON_NONE;
	if (uses.thread_data)
		return MAL_REASON_THREAD_DATA;
	if (uses.numbers)
		return MAL_REASON_REPORTED;
	return uses.cancels ? MAL_REASON_CANCELS : MAL_REASON_NONE;
}
