/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * names.c: names codes|lend FILE: what DLB's functions return, by declarations of our own. codes:
 * in any order. lend: two ranks with one CPU each: rank 0 lends until rank 1 has borrowed its CPU
 * and told so (FILE.borrowed), and takes it back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern int DLB_Init(int cpus, const void *mask, const char *options);
extern int DLB_Finalize(void), DLB_Enable(void), DLB_Disable(void);
extern int DLB_SetMaxParallelism(int most);
extern int DLB_Lend(void), DLB_LendCpus(int count), DLB_LendCpu(int cpu);
extern int DLB_Reclaim(void), DLB_Return(void), DLB_BorrowCpus(int count);
extern int DLB_CallbackSet(int which, void (*function)(void), void *argument);
extern int DLB_CallbackGet(int which, void (**function)(void), void **argument);
extern int DLB_CheckCpuAvailability(int cpu), DLB_LendCpuMask(const void *mask);
extern int DLB_PollDROM_Update(void), DLB_Barrier(void);
extern int DLB_GetVersion(int *major, int *minor, int *patch);

enum { SET_NUM_THREADS = 1, ENABLE_CPU = 6, DISABLE_CPU = 7 };

static struct {
	int threads, enabled, disabled, cpu;
} told;

static void set_threads(int number, void *argument)
{
	(void)argument;
	told.threads = number;
}

static void enable(int cpu, void *argument)
{
	(void)argument;
	told.enabled++;
	told.cpu = cpu;
}

static void disable(int cpu, void *argument)
{
	(void)argument;
	told.disabled += cpu == told.cpu;
}

static char *name(const char *file, const char *end)
{
	static char text[4096];

	snprintf(text, sizeof(text), "%s.%s", file, end);
	return text;
}

static void say(const char *file, const char *end)
{
	fclose(fopen(name(file, end), "w"));
}

static void await(const char *file, const char *end)
{
	while (access(name(file, end), F_OK) != 0)
		usleep(1000);
}

static void show(int code)
{
	printf("%d ", code);
}

static void codes(void)
{
	void (*function)(void);

	show(DLB_Finalize());
	show(DLB_Lend());
	show(DLB_Disable());
	show(DLB_Init(0, NULL, NULL));
	show(DLB_Init(0, NULL, NULL));
	show(DLB_CallbackSet(0, NULL, NULL));
	show(DLB_CallbackSet(99, NULL, NULL));
	show(DLB_CallbackGet(SET_NUM_THREADS, &function, NULL));
	show(DLB_Disable());
	show(DLB_Disable());
	show(DLB_Lend());
	show(DLB_Enable());
	show(DLB_Enable());
	show(DLB_Reclaim());
	show(DLB_Return());
	show(DLB_LendCpus(0));
	show(DLB_SetMaxParallelism(0));
	show(DLB_LendCpu(0));
	show(DLB_CheckCpuAvailability(-1));
	show(DLB_LendCpuMask(NULL));
	show(DLB_Barrier());
	show(DLB_GetVersion(NULL, NULL, NULL));
	show(DLB_Finalize());
	printf("%d\n", DLB_Finalize());
}

static void lend(const char *file)
{
	int lent = DLB_Lend(), reclaimed, again;

	await(file, "borrowed");
	reclaimed = DLB_Reclaim();
	again = DLB_Reclaim();
	say(file, "back");
	await(file, "done");
	printf("lent %d, reclaimed %d, again %d, finalized %d\n", lent, reclaimed, again,
	       DLB_Finalize());
}

static void tell(const char *what)
{
	int available = DLB_CheckCpuAvailability(told.cpu);

	printf("%s: %d threads, %d enabled, %d disabled, available %d\n", what, told.threads,
	       told.enabled, told.disabled, available);
}

static void borrow(const char *file)
{
	int returned;

	DLB_CallbackSet(SET_NUM_THREADS, (void (*)(void))set_threads, NULL);
	DLB_CallbackSet(ENABLE_CPU, (void (*)(void))enable, NULL);
	DLB_CallbackSet(DISABLE_CPU, (void (*)(void))disable, NULL);
	while (DLB_BorrowCpus(1) != 0)
		usleep(1000);
	tell("borrowed");
	say(file, "borrowed");
	await(file, "back");
	while (!told.disabled)
		DLB_PollDROM_Update();
	tell("given back");
	returned = DLB_Return();
	printf("returned %d, finalized %d\n", returned, DLB_Finalize());
	say(file, "done");
}

int main(int argc, char **argv)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");

	if (argc != 3) {
		codes();
		return 0;
	}
	DLB_Init(0, NULL, NULL);
	(rank && strcmp(rank, "0") != 0 ? borrow : lend)(argv[2]);
	return 0;
}
