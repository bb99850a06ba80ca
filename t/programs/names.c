/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * names.c: names codes|regions|handles|lend FILE: what DLB's functions return, by declarations of
 * our own. codes: in any order. regions: those of monitoring regions, and what is in DLB's struct.
 * handles: of names that are long, from Fortran, too many or another thread's. lend: two ranks with
 * one CPU each: rank 0 lends until rank 1 has borrowed its CPU and told so (FILE.borrowed), and
 * takes it back.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "t/programs/meeting.h"

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
/* DLB's struct as far as it is read here. */
struct monitor {
	const char *name;
	char before[32];
	int measurements, resets;
	char between[48];
	long elapsed, useful, mpi;
};
extern struct monitor *DLB_MonitoringRegionGetGlobal(void);
extern struct monitor *DLB_MonitoringRegionRegister(const char *name);
extern struct monitor *dlb_monitoringregionregister_(const char *name, size_t length);
extern int dlb_init_(int cpus, const void *mask, const char *options, size_t length);
extern int DLB_MonitoringRegionStart(void *handle), DLB_MonitoringRegionStop(void *handle);
extern int DLB_MonitoringRegionReset(void *handle), DLB_MonitoringRegionReport(void *handle);
extern int DLB_MonitoringRegionsUpdate(void);
extern int DLB_TALP_CollectPOPMetrics(void *handle, void *metrics);
extern int DLB_TALP_GetTimes(int pid, double *mpi_s, double *useful_s);

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

static void regions(void)
{
	struct monitor *all = DLB_MonitoringRegionGetGlobal();
	struct monitor *solve = DLB_MonitoringRegionRegister("solve");
	struct monitor *none = DLB_MonitoringRegionRegister(NULL);
	void *last = (void *)1, *wrong = &told;
	double mpi_s, useful_s;

	DLB_Init(0, NULL, NULL);
	DLB_Lend();
	DLB_Reclaim();
	show(solve == DLB_MonitoringRegionRegister("solve") && solve != none);
	show(all == DLB_MonitoringRegionRegister("Global"));
	show(DLB_MonitoringRegionStart(all));
	show(DLB_MonitoringRegionStart(solve));
	show(DLB_MonitoringRegionStart(none));
	show(DLB_MonitoringRegionStart(solve));
	show(DLB_MonitoringRegionStop(last));
	show(DLB_MonitoringRegionStop(none));
	show(DLB_MonitoringRegionsUpdate());
	show(solve->measurements == 0 && solve->elapsed > 0);
	show(DLB_MonitoringRegionStop(last));
	show(DLB_MonitoringRegionStop(NULL));
	show(DLB_MonitoringRegionStop(last));
	show(DLB_MonitoringRegionStart(wrong));
	show(DLB_MonitoringRegionReport(wrong));
	show(DLB_MonitoringRegionReport(solve));
	show(all->measurements == 1 && all->elapsed >= solve->elapsed && solve->useful > 0);
	show(DLB_MonitoringRegionReset(solve));
	show(solve->resets == 1 && solve->elapsed == 0 && solve->mpi == 0);
	show(DLB_TALP_GetTimes(1, &mpi_s, &useful_s));
	show(DLB_TALP_GetTimes(0, &mpi_s, &useful_s));
	show(useful_s > 0);
	printf("%d %s\n", DLB_TALP_CollectPOPMetrics(all, NULL), solve->name);
}

static void *register_first(void *name)
{
	return DLB_MonitoringRegionRegister(name);
}

static void handles(void)
{
	/* A text of Fortran, with nothing readable behind it. */
	size_t page = (size_t)sysconf(_SC_PAGESIZE), length = 200;
	char *end = (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) +
		    page;
	struct monitor *of_thread, *umlaut, *last = NULL;
	pthread_t thread;
	char name[16];
	int some = 1;

	munmap(end, page);
	memset(end - length, 'x', length);
	pthread_create(&thread, NULL, register_first, "solve");
	pthread_join(thread, (void **)&of_thread);
	show(of_thread && DLB_MonitoringRegionStart(of_thread) < 0);
	show(dlb_init_(0, NULL, "--lewi=no   ", 12));
	show(DLB_Lend());
	last = dlb_monitoringregionregister_(end - length, length);
	show(last && strlen(last->name) == 127);
	show(last == dlb_monitoringregionregister_(end - 127, 127));
	show(DLB_MonitoringRegionRegister("solve") == dlb_monitoringregionregister_("solve  ", 7));
	show(DLB_MonitoringRegionRegister("GLOBAL") == DLB_MonitoringRegionGetGlobal());
	umlaut = DLB_MonitoringRegionRegister("l\303\266sen");
	show(DLB_MonitoringRegionStart(umlaut));
	show(DLB_MonitoringRegionReset(umlaut));
	show(DLB_MonitoringRegionStop(umlaut));
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "%d", i);
		last = DLB_MonitoringRegionRegister(name);
		some &= last != NULL;
	}
	show(some);
	printf("%d\n", DLB_MonitoringRegionStart(last));
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
		(strcmp(argv[1], "regions") == 0   ? regions
		 : strcmp(argv[1], "handles") == 0 ? handles
						   : codes)();
		return 0;
	}
	DLB_Init(0, NULL, NULL);
	(rank && strcmp(rank, "0") != 0 ? borrow : lend)(argv[2]);
	return 0;
}
