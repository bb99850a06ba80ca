/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlb.h: the names of DLB that libdlb.so of ours answers by calls of malleable.h, as DLB 3.7
 * documents them. Programs are compiled with DLB's own headers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What functions return. Texts: DLB_Strerror(). */
enum {
	DLB_NOUPDT = 2,
	DLB_NOTED = 1,
	DLB_SUCCESS = 0,
	DLB_ERR_UNKNOWN = -1,
	DLB_ERR_NOINIT = -2,
	DLB_ERR_INIT = -3,
	DLB_ERR_DISBLD = -4,
	DLB_ERR_NOPROC = -6,
	DLB_ERR_PERM = -8,
	DLB_ERR_NOCBK = -10,
	DLB_ERR_NOENT = -11,
	DLB_ERR_NOCOMP = -12,
	DLB_ERR_NOMEM = -14,
	DLB_ERR_NOLEWI = -17,
};

/* What a program may have called when its CPUs have changed. */
enum {
	DLB_SET_NUM_THREADS = 1,
	DLB_SET_ACTIVE_MASK,
	DLB_SET_PROCESS_MASK,
	DLB_ADD_ACTIVE_MASK,
	DLB_ADD_PROCESS_MASK,
	DLB_ENABLE_CPU,
	DLB_DISABLE_CPU,
	DLB_ENABLE_CPU_SET,
	DLB_DISABLE_CPU_SET,
	DLB_CALLBACKS,
};
typedef void (*dlb_callback)(void);

int DLB_Init(int cpus, const void *mask, const char *options);
int DLB_Finalize(void);
int DLB_Enable(void);
int DLB_Disable(void);
int DLB_SetMaxParallelism(int most);
int DLB_UnsetMaxParallelism(void);

int DLB_Lend(void);
int DLB_LendCpus(int count);
int DLB_Reclaim(void);
int DLB_ReclaimCpus(int count);
int DLB_Borrow(void);
int DLB_BorrowCpus(int count);
int DLB_AcquireCpus(int count);
int DLB_Return(void);

int DLB_CallbackSet(int which, dlb_callback function, void *argument);
int DLB_CallbackGet(int which, dlb_callback *function, void **argument);
int DLB_PollDROM(int *cpus, void *mask);
int DLB_PollDROM_Update(void);
int DLB_CheckCpuAvailability(int cpu);

int DLB_GetVersion(int *major, int *minor, int *patch);
const char *DLB_Strerror(int error);
int DLB_DROM_GetNumCpus(int *cpus);

/* What a rank did in a region; times in ns. What is not known is 0. */
#define DLB_NAME_MAX 128
#define DLB_GLOBAL "Global"
struct dlb_monitor {
	const char *name;
	int num_cpus, num_omp_threads;
	float avg_cpus;
	int num_gpus;
	int64_t cycles, instructions;
	int num_measurements, num_resets;
	int64_t num_mpi_calls, num_omp_parallels, num_omp_tasks, num_gpu_runtime_calls;
	int64_t start_time, stop_time, elapsed_time, useful_time, mpi_time;
	int64_t mpi_worker_idle_time, omp_load_imbalance_time, omp_scheduling_time;
	int64_t omp_serialization_time;
	int64_t gpu_runtime_time, gpu_useful_time, gpu_communication_time, gpu_inactive_time;
	void *internal;
};

struct dlb_monitor *DLB_MonitoringRegionGetGlobal(void);
struct dlb_monitor *DLB_MonitoringRegionRegister(const char *name);
int DLB_MonitoringRegionStart(struct dlb_monitor *handle);
int DLB_MonitoringRegionStop(struct dlb_monitor *handle);
int DLB_MonitoringRegionReset(struct dlb_monitor *handle);
int DLB_MonitoringRegionReport(const struct dlb_monitor *handle);
int DLB_MonitoringRegionsUpdate(void);
int DLB_TALP_GetTimes(int pid, double *mpi_s, double *useful_s);

/*
 * Copy a text from Fortran, which has a length and blanks at its end, into TEXT of SIZE bytes, cut
 * if there is no room. Returns TEXT.
 */
const char *mal_dlb_text(const char *fortran, size_t length, char *text, size_t size);
struct dlb_monitor *dlb_monitoringregionregister_(const char *name, size_t length);
int dlb_init_(int cpus, const void *mask, const char *options, size_t length);
