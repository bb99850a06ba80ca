/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * objects.c: dynamic symbols and segments of the loaded objects (System V ABI, ch. 5;
 * dl_iterate_phdr(3)).
 */
#include "libmalleable/rank/program/objects.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libmalleable/rank/program/listed.h"
#include "libmalleable/rank/program/parts.h"

/* The part of an object that dynamic linking needs. */
struct dynamic {
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *gnu_hash;
	const uint32_t *hash;
	const ElfW(Rela) * relocations[2]; /* of data, of calls */
	size_t sizes[2];
	const ElfW(Dyn) * entries;
};

/* Called for each undefined symbol; returns true to stop. */
typedef bool (*look)(const char *name, void *data);

static void read_entry(const struct dl_phdr_info *info, const ElfW(Dyn) * entry,
		       struct dynamic *dynamic)
{
	uintptr_t address = (uintptr_t)entry->d_un.d_ptr;
	/* glibc relocates these addresses in place, but not those of the kernel's vdso. */
	const void *at =
		(const void *)(address < info->dlpi_addr ? address + info->dlpi_addr : address);

	if (entry->d_tag == DT_SYMTAB)
		dynamic->symbols = at;
	else if (entry->d_tag == DT_STRTAB)
		dynamic->names = at;
	else if (entry->d_tag == DT_GNU_HASH)
		dynamic->gnu_hash = at;
	else if (entry->d_tag == DT_HASH)
		dynamic->hash = at;
	else if (entry->d_tag == DT_RELA)
		dynamic->relocations[0] = at;
	else if (entry->d_tag == DT_JMPREL)
		dynamic->relocations[1] = at;
	else if (entry->d_tag == DT_RELASZ)
		dynamic->sizes[0] = entry->d_un.d_val;
	else if (entry->d_tag == DT_PLTRELSZ)
		dynamic->sizes[1] = entry->d_un.d_val;
}

/* One more than the highest symbol number that a relocation names. */
static uint32_t relocated_symbols(const struct dynamic *dynamic)
{
	uint32_t count = 0;

	for (int table = 0; table < 2; table++) {
		const ElfW(Rela) *relocation = dynamic->relocations[table];

		for (size_t i = 0; relocation && i < dynamic->sizes[table] / sizeof(*relocation);
		     i++)
			if (ELF64_R_SYM(relocation[i].r_info) >= count)
				count = (uint32_t)ELF64_R_SYM(relocation[i].r_info) + 1;
	}
	return count;
}

/*
 * Undefined symbols have lower numbers than this: the old hash table counts all symbols, a GNU one
 * starts with the first defined one. Without defined symbols that number is always 1; look at the
 * relocations then, as each called function has one.
 */
static uint32_t symbols_to_look_at(const struct dynamic *dynamic)
{
	if (dynamic->hash)
		return dynamic->hash[1];
	if (dynamic->gnu_hash && dynamic->gnu_hash[1] > 1)
		return dynamic->gnu_hash[1];
	return relocated_symbols(dynamic);
}

static bool read_dynamic(const struct dl_phdr_info *info, struct dynamic *dynamic)
{
	*dynamic = (struct dynamic){0};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Dyn) * entry;

		if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		dynamic->entries = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		for (entry = dynamic->entries; entry->d_tag != DT_NULL; entry++)
			read_entry(info, entry, dynamic);
	}
	return dynamic->symbols && dynamic->names;
}

static bool any_undefined(const struct dl_phdr_info *info, look is_looked_for, void *data)
{
	struct dynamic dynamic;
	uint32_t count;

	if (!read_dynamic(info, &dynamic))
		return false;
	count = symbols_to_look_at(&dynamic);
	for (uint32_t i = 1; i < count; i++)
		if (dynamic.symbols[i].st_shndx == SHN_UNDEF &&
		    is_looked_for(dynamic.names + dynamic.symbols[i].st_name, data))
			return true;
	return false;
}

static bool starts_with(const char *name, const char *const *beginnings)
{
	for (; *beginnings; beginnings++)
		if (strncmp(name, *beginnings, strlen(*beginnings)) == 0)
			return true;
	return false;
}

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

	return starts_with(name, broken);
}

/* libgomp writes CPUs otherwise than libomp, and prints to standard error. */
static bool is_written_otherwise(const char *name)
{
	static const char *const written[] = {"omp_capture_affinity", "omp_display_affinity", NULL};

	return starts_with(name, written);
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
	return mal_part_of_program(info) && any_undefined(info, is_missing, libomp);
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

	uses->threads |= starts_with(name, threads);
	uses->regions |= starts_with(name, regions);
	uses->numbers |= starts_with(name, numbers);
	uses->thread_data |= starts_with(name, thread_data);
	uses->keys |= starts_with(name, keys);
	uses->cancels |= starts_with(name, cancels);
	uses->tells |= starts_with(name, tells);
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
	any_undefined(info, note_use, &uses);
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
	struct dynamic dynamic;

	if (!mal_part_of_program(info))
		return false;
	any_undefined(info, note_use, &uses);
	read_dynamic(info, &dynamic);
	*object = (struct mal_object){.base = info->dlpi_addr,
				      .path = info->dlpi_name,
				      .headers = info->dlpi_phdr,
				      .header_count = info->dlpi_phnum,
				      .dynamic = dynamic.entries,
				      .names = dynamic.names,
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
