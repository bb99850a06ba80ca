/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sized.c: slots of the loaded objects that lead to MPI: those of the C forms NAME_c with counts of
 * type MPI_Count (MPI 4), and those of what no library here has.
 *
 * Not every MPI library has them, and programs refer to them weakly (mpi4py): if we exported them
 * these would find ours where there are none. So when MPI is initialised, the slots of the loaded
 * objects through which they call the library's are pointed to ours. Not seen are calls by pointers
 * that the program has taken otherwise, and by objects loaded later.
 *
 * A weak reference to a function that we have and no library has, as in a program without MPI or
 * OpenCL, is as without us: nothing.
 *
 * Invariant: what the linker made read-only is so again (t/t2007-calls.t: counts of type
 * MPI_Count).
 */
#include "libmalleable/rank/mpi/sized.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmalleable/base/symbols.h"
#include "libmalleable/rank/mpi/next.h"
#include "libmalleable/rank/mpi/requests.h"
#include "libmalleable/rank/mpi/start.h"
#include "libmalleable/rank/mpi/words.h"
#include "libmalleable/rank/ready.h"

#if defined(__x86_64__)
#define IS_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#define IS_POINTER(type) (IS_SLOT(type) || (type) == R_X86_64_64)
#elif defined(__aarch64__)
#define IS_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#define IS_POINTER(type) (IS_SLOT(type) || (type) == R_AARCH64_ABS64)
#else
#define IS_SLOT(type) false
#define IS_POINTER(type) false
#endif

#define SLOTS_MAX 512

/* Calls BEFORE, the library's MPI_NAME_c and AFTER. */
#define DEFINE(name, count, before, after) \
	static int (*next_##name)(PARAMETERS_##count); \
	static int name##_c(PARAMETERS_##count) \
	{ \
		int result; \
\
		before; \
		result = next_##name(ARGUMENTS_##count); \
		after; \
		return result; \
	}
#define BEGINS(name, count, comm, at, persistent) \
	DEFINE(name, count, (void)0, \
	       if (!result && mal_mpi_is_world(a##comm)) \
		       mal_mpi_began((const void *)a##at, mal_mpi_handle_size, persistent))

#define WAIT(name, fortran, count) DEFINE(name, count, ENTER(false), LEAVE(false))
#define OVER(name, fortran, count, position) \
	DEFINE(name, count, ENTER(true), LEAVE(mal_mpi_is_world(a##position)))
#define BEGIN(name, fortran, count, comm, at) BEGINS(name, count, comm, at, false)
#define INIT(name, fortran, count, comm, at) BEGINS(name, count, comm, at, true)

#include "libmalleable/rank/mpi/sized_calls.h"

#undef WAIT
#undef OVER
#undef BEGIN
#undef INIT
#define ROW(name) {"MPI_" #name "_c", (void *)name##_c, (void **)&next_##name},
#define WAIT(name, ...) ROW(name)
#define OVER(name, ...) ROW(name)
#define BEGIN(name, ...) ROW(name)
#define INIT(name, ...) ROW(name)

static const struct call {
	const char *name;
	void *ours;
	void **next;
} calls[] = {
#include "libmalleable/rank/mpi/sized_calls.h"
};

/* Slots that name one of the calls; those without lead to us, weakly, by NAME. */
struct slot {
	const struct call *call;
	const char *name;
	void **place;
	bool readonly;
	struct mal_span object;
};

struct slots {
	size_t count;
	struct slot all[SLOTS_MAX];
};

static const struct call *find_call(const char *name)
{
	size_t length = strlen(name);

	if (length < 7 || strncmp(name, "MPI_", 4) != 0 || strcmp(name + length - 2, "_c") != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return &calls[i];
	return NULL;
}

/* Whether a function of ours may be called so. */
static bool may_be_ours(const char *name)
{
	static const char *const begin[] = {"MPI_", "mpi_", "cl", "cu", "hip"};

	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
		if (strncmp(name, begin[i], strlen(begin[i])) == 0)
			return true;
	return false;
}

/* Whether SYMBOL is a weak reference by NAME that RELOCATION resolved to one of our functions. */
static bool leads_to_us(const ElfW(Sym) * symbol, const char *name, const ElfW(Rela) * relocation,
			const void *const *place)
{
	return ELF64_ST_BIND(symbol->st_info) == STB_WEAK && may_be_ours(name) &&
	       IS_POINTER(ELF64_R_TYPE(relocation->r_info)) &&
	       mal_object_of(*place) == mal_object_of(calls);
}

static void add_slot(struct slots *slots, const struct dl_phdr_info *info, const struct call *call,
		     const char *name, uintptr_t place)
{
	struct slot slot = {
		.call = call, .name = name, .place = (void **)place, .object = mal_span_of(info)};

	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
			slot.readonly |= place >= begin && place < end;
	}
	if (slots->count < SLOTS_MAX)
		slots->all[slots->count++] = slot;
}

static int collect(struct dl_phdr_info *info, size_t size, void *context)
{
	struct mal_symbols symbols;

	(void)size;
	if (!mal_symbols_read(info, &symbols))
		return 0;
	for (unsigned int t = 0; t < 2; t++) {
		const ElfW(Rela) *table = symbols.relocations[t];

		for (size_t i = 0; table && i < symbols.sizes[t] / sizeof(*table); i++) {
			const ElfW(Sym) *symbol = &symbols.symbols[ELF64_R_SYM(table[i].r_info)];
			const char *name = symbols.names + symbol->st_name;
			uintptr_t place = info->dlpi_addr + table[i].r_offset;
			const struct call *call;

			if (symbol->st_shndx != SHN_UNDEF || !symbol->st_name)
				continue;
			call = IS_SLOT(ELF64_R_TYPE(table[i].r_info)) ? find_call(name) : NULL;
			if (call || leads_to_us(symbol, name, &table[i], (const void *)place))
				add_slot(context, info, call, name, place);
		}
	}
	return 0;
}

/*
 * Does the slot lead to the library's function, or will it when it is first used? Another tool's
 * function before ours stays.
 */
static bool leads_to(const struct slot *slot, const void *function)
{
	uintptr_t value = (uintptr_t)*slot->place;

	if (value == (uintptr_t)function)
		return true;
	return value >= slot->object.begin && value < slot->object.end &&
	       dlsym(RTLD_DEFAULT, slot->call->name) == function;
}

static void redirect(const struct slot *slot, void *function)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = (void *)((uintptr_t)slot->place & ~(uintptr_t)(size - 1));

	if (slot->readonly && mprotect(page, size, PROT_READ | PROT_WRITE) < 0)
		return;
	__atomic_store_n(slot->place, function, __ATOMIC_RELEASE);
	if (slot->readonly)
		mprotect(page, size, PROT_READ);
}

static struct slots slots;

static void clear_weak(void)
{
	slots.count = 0;
	dl_iterate_phdr(collect, &slots);
	for (size_t i = 0; i < slots.count; i++)
		if (!slots.all[i].call && !mal_mpi_find(slots.all[i].name))
			redirect(&slots.all[i], NULL);
}

void mal_mpi_sized_open(void)
{
	static bool once;

	if (once)
		return;
	once = true;
	clear_weak();
	for (size_t i = 0; i < slots.count; i++) {
		const struct slot *slot = &slots.all[i];

		if (!slot->call)
			continue;
		if (!*slot->call->next)
			*slot->call->next = mal_mpi_find(slot->call->name);
		if (*slot->call->next && leads_to(slot, *slot->call->next))
			redirect(slot, slot->call->ours);
	}
}

/* What libmalleable.so leaves until constructors run is done first. */
__attribute__((constructor)) static void get_ready(void)
{
	mal_mpi_ready();
	clear_weak();
}
