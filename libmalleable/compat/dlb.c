/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlb.c: DLB's names for lending and borrowing, for programs that call DLB.
 *
 * Invariant: whatever a program calls in whatever order has an answer as documented, and the rank
 * owes nobody a CPU after DLB_Finalize() (t/t2025-names.t).
 */
#include "libmalleable/compat/dlb.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MALLEABLE_DLOPEN
#include "libmalleable/malleable.h"

#define OPTIONS_MAX 4096

static struct {
	atomic_bool begun;    /* between DLB_Init() and DLB_Finalize() */
	atomic_bool disabled; /* by DLB_Disable() */
	bool lewi, drom;      /* options */
	atomic_int lent;      /* CPUs by DLB_LendCpus() */
	atomic_int most;      /* by DLB_SetMaxParallelism(); 0: any number */
	struct {
		dlb_callback function;
		void *argument;
	} callbacks[DLB_CALLBACKS];
	atomic_flag tells; /* a thread tells of changes */
	cpu_set_t told;	   /* the CPUs that it told last */
	cpu_set_t polled;  /* those that DLB_PollDROM() returned last */
} dlb = {.tells = ATOMIC_FLAG_INIT};

/* How often this thread has called DLB_Lend() since it has its CPUs. */
static _Thread_local int waits;

static int code_of(int result)
{
	switch (result) {
	case MALLEABLE_E_REFUSED: return DLB_NOUPDT; /* parallel regions borrow by themselves */
	case MALLEABLE_E_NESTING: return DLB_NOUPDT;
	case MALLEABLE_E_THREAD: return DLB_ERR_PERM;
	case MALLEABLE_E_FULL: return DLB_ERR_NOMEM;
	default: return result < 0 ? DLB_ERR_UNKNOWN : DLB_SUCCESS;
	}
}

/* The first answer of all calls that lend and borrow COUNT CPUs: 0, or why not. */
static int refusal(int count)
{
	if (!dlb.begun)
		return DLB_ERR_NOINIT;
	if (!dlb.lewi)
		return DLB_ERR_NOLEWI;
	if (dlb.disabled)
		return DLB_ERR_DISBLD;
	return count > 0 ? DLB_SUCCESS : DLB_NOUPDT;
}

/* The CPUs that the rank may use now; none outside a step. */
static cpu_set_t usable(void)
{
	int cpus[CPU_SETSIZE], count = malleable_cpu_list(cpus, CPU_SETSIZE);
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < count && i < CPU_SETSIZE; i++)
		CPU_SET(cpus[i], &set);
	return set;
}

/* FUNCTION() was set for WHICH, whose parameters are those. */
static void call(int which, int number, const cpu_set_t *set)
{
	union {
		dlb_callback any;
		void (*with_number)(int number, void *argument);
		void (*with_set)(const void *set, void *argument);
	} it = {.any = dlb.callbacks[which].function};

	if (!it.any)
		return;
	if (set)
		it.with_set(set, dlb.callbacks[which].argument);
	else
		it.with_number(number, dlb.callbacks[which].argument);
}

/* CPUs that the rank has in FIRST and not in SECOND, one by one and all together. */
static void call_for_difference(int each, int all, const cpu_set_t *first, const cpu_set_t *second)
{
	cpu_set_t common, set;

	CPU_AND(&common, first, second);
	CPU_XOR(&set, first, &common);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			call(each, cpu, NULL);
	if (CPU_COUNT(&set))
		call(all, 0, &set);
}

/*
 * Tell the program how its CPUs have changed since it was told last. Returns whether they have.
 * What it calls then tells nothing.
 */
static bool tell(void)
{
	cpu_set_t before, now;
	bool changed;

	if (atomic_flag_test_and_set(&dlb.tells))
		return false;
	before = dlb.told;
	now = dlb.told = usable();
	changed = !CPU_EQUAL(&before, &now);
	if (changed) {
		call_for_difference(DLB_DISABLE_CPU, DLB_DISABLE_CPU_SET, &before, &now);
		call_for_difference(DLB_ENABLE_CPU, DLB_ENABLE_CPU_SET, &now, &before);
		call(DLB_SET_PROCESS_MASK, 0, &now);
		call(DLB_SET_ACTIVE_MASK, 0, &now);
		call(DLB_SET_NUM_THREADS, CPU_COUNT(&now), NULL);
	}
	atomic_flag_clear(&dlb.tells);
	return changed;
}

/*
 * Whether OPTIONS turn NAME on, as in DLB_ARGS; the last one counts. Where there are none dlb=yes
 * does.
 */
static bool has(const char *options, const char *name)
{
	size_t length = strlen(name), word;
	bool on = !options[strspn(options, " ")];

	for (; *options; options += word + (options[word] != '\0')) {
		word = strcspn(options, " ");
		if (word < length || strncmp(options, name, length) != 0)
			continue;
		if (word == length)
			on = true;
		else if (options[length] == '=')
			on = !strchr("nf0", options[length + 1]);
	}
	return on;
}

int DLB_Init(int cpus, const void *mask, const char *options)
{
	const char *variable = getenv("DLB_ARGS");

	(void)cpus, (void)mask;
	if (atomic_exchange(&dlb.begun, true))
		return DLB_ERR_INIT;
	if (!options || !*options)
		options = variable ? variable : "";
	dlb.lewi = has(options, "--lewi");
	dlb.drom = has(options, "--drom");
	dlb.told = dlb.polled = usable();
	DLB_MonitoringRegionGetGlobal();
	return DLB_SUCCESS;
}

const char *mal_dlb_text(const char *fortran, size_t length, char *text, size_t size)
{
	while (length && fortran[length - 1] == ' ')
		length--;
	if (length >= size)
		length = size - 1;
	memcpy(text, fortran, length);
	text[length] = '\0';
	return text;
}

int dlb_init_(int cpus, const void *mask, const char *options, size_t length)
{
	char text[OPTIONS_MAX];

	return DLB_Init(cpus, mask, mal_dlb_text(options, length, text, sizeof(text)));
}

/* The wait of this thread, if any, has ended. Returns whether there was one. */
static bool end_wait(void)
{
	bool was = waits > 0;

	/* A parallel region has ended it already. */
	while (waits > 0 && malleable_waiting_end() >= 0)
		waits--;
	waits = 0;
	return was;
}

/* The rank uses so many CPUs at most, by all that the program has called. */
static int limit(void)
{
	int most = dlb.most, left = dlb.lent ? malleable_cpus_owned() - dlb.lent : 0;

	return code_of(malleable_limit(!most || (left && left < most) ? left : most));
}

int DLB_Finalize(void)
{
	if (!atomic_exchange(&dlb.begun, false))
		return DLB_NOUPDT;
	end_wait();
	dlb.lent = dlb.most = 0;
	memset(dlb.callbacks, 0, sizeof(dlb.callbacks));
	if (atomic_exchange(&dlb.disabled, false))
		malleable_enable();
	malleable_limit(0);
	malleable_return(0);
	return DLB_SUCCESS;
}

static int disable(bool on)
{
	int result;

	if (!dlb.begun)
		return DLB_ERR_NOINIT;
	if (dlb.disabled == on)
		return DLB_NOUPDT;
	if (on)
		end_wait();
	result = on ? malleable_disable() : malleable_enable();
	dlb.disabled = (result >= 0) == on;
	tell();
	return code_of(result);
}

int DLB_Disable(void)
{
	return disable(true);
}

int DLB_Enable(void)
{
	return disable(false);
}

int DLB_SetMaxParallelism(int most)
{
	int refused = refusal(most);

	if (refused)
		return refused;
	dlb.most = most;
	refused = limit();
	tell();
	return refused;
}

int DLB_UnsetMaxParallelism(void)
{
	int refused = refusal(1);

	if (refused)
		return refused;
	dlb.most = 0;
	return limit();
}

int DLB_Lend(void)
{
	int refused = refusal(1), result;

	if (refused)
		return refused;
	result = malleable_waiting_begin(MALLEABLE_WAIT_BLOCKS);
	if (result >= 0)
		waits++;
	return code_of(result);
}

int DLB_LendCpus(int count)
{
	int refused = refusal(count);

	if (refused)
		return refused;
	if (count >= malleable_cpus_owned() - dlb.lent)
		return DLB_Lend();
	dlb.lent += count;
	return limit();
}

int DLB_ReclaimCpus(int count)
{
	int refused = refusal(count);

	if (refused)
		return refused;
	if (!waits && !dlb.lent)
		return DLB_NOUPDT;
	if (!end_wait()) {
		dlb.lent -= count < dlb.lent ? count : dlb.lent;
		refused = limit();
	}
	tell();
	return refused;
}

int DLB_Reclaim(void)
{
	bool waited = waits > 0;
	int result = DLB_ReclaimCpus(MALLEABLE_ALL);

	return waited && dlb.lent ? DLB_ReclaimCpus(MALLEABLE_ALL) : result;
}

/* Borrow MORE CPUs than the program knows. Returns OTHERWISE where none has come. */
static int borrow(int more, int otherwise)
{
	int refused = refusal(more), known = CPU_COUNT(&dlb.told), before, after;

	if (refused)
		return refused;
	end_wait();
	before = malleable_cpus();
	if (known < before)
		before = known;
	after = malleable_borrow(more < MALLEABLE_ALL - before ? before + more : MALLEABLE_ALL);
	tell();
	if (after < 0)
		return code_of(after);
	return after > before ? DLB_SUCCESS : otherwise;
}

int DLB_Borrow(void)
{
	return borrow(MALLEABLE_ALL, DLB_NOUPDT);
}

int DLB_BorrowCpus(int count)
{
	return borrow(count, DLB_NOUPDT);
}

int DLB_AcquireCpus(int count)
{
	return borrow(count, DLB_NOTED);
}

int DLB_Return(void)
{
	int refused = refusal(1), before, after;

	if (refused)
		return refused;
	before = malleable_cpus();
	after = malleable_return(0);
	tell();
	return after < before ? code_of(after) : DLB_NOUPDT;
}

/* DLB_ADD_...: masks of other processes, for DLB_PreInit(). */
static bool is_callback(int which)
{
	return which > 0 && which < DLB_CALLBACKS && which != DLB_ADD_ACTIVE_MASK &&
	       which != DLB_ADD_PROCESS_MASK;
}

int DLB_CallbackSet(int which, dlb_callback function, void *argument)
{
	if (!is_callback(which))
		return DLB_ERR_NOCBK;
	dlb.callbacks[which].function = function;
	dlb.callbacks[which].argument = argument;
	return DLB_SUCCESS;
}

int DLB_CallbackGet(int which, dlb_callback *function, void **argument)
{
	if (!is_callback(which))
		return DLB_ERR_NOCBK;
	if (function)
		*function = dlb.callbacks[which].function;
	if (argument)
		*argument = dlb.callbacks[which].argument;
	return DLB_SUCCESS;
}

int DLB_PollDROM(int *cpus, void *mask)
{
	cpu_set_t now = usable();

	if (!dlb.begun || !dlb.drom)
		return DLB_ERR_NOCOMP;
	if (CPU_EQUAL(&now, &dlb.polled))
		return DLB_NOUPDT;
	dlb.polled = now;
	if (cpus)
		*cpus = CPU_COUNT(&now);
	if (mask)
		memcpy(mask, &now, sizeof(now));
	return DLB_SUCCESS;
}

int DLB_PollDROM_Update(void)
{
	if (!dlb.begun || !dlb.drom)
		return DLB_ERR_NOCOMP;
	return tell() ? DLB_SUCCESS : DLB_NOUPDT;
}

int DLB_CheckCpuAvailability(int cpu)
{
	int refused = refusal(1);
	cpu_set_t now;

	if (refused)
		return refused;
	tell();
	now = usable();
	return cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &now) ? DLB_SUCCESS : DLB_ERR_PERM;
}

/* Forms for one CPU, or a mask: refused like the others, else there are none. */
static int no_form(void)
{
	int refused = refusal(1);

	return refused ? refused : DLB_ERR_NOCOMP;
}

#define NO_FORM(name) name(void) __attribute__((alias("no_form")))
int NO_FORM(DLB_LendCpu), NO_FORM(DLB_LendCpuMask), NO_FORM(DLB_ReclaimCpu),
	NO_FORM(DLB_ReclaimCpuMask), NO_FORM(DLB_AcquireCpu), NO_FORM(DLB_AcquireCpuMask),
	NO_FORM(DLB_AcquireCpusInMask), NO_FORM(DLB_BorrowCpu), NO_FORM(DLB_BorrowCpuMask),
	NO_FORM(DLB_BorrowCpusInMask), NO_FORM(DLB_ReturnCpu), NO_FORM(DLB_ReturnCpuMask);
