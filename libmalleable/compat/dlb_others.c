/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlb_others.c: DLB's names that need no call of ours: what is known, and what there is not.
 *
 * Invariant: each public function that works on the calling process is there, in C and for Fortran,
 * so that none ends a program that calls it (t/t2025-names.t).
 */
#include <unistd.h>

#include "libmalleable/compat/dlb.h"

int DLB_GetVersion(int *major, int *minor, int *patch)
{
	if (major)
		*major = 3;
	if (minor)
		*minor = 7;
	if (patch)
		*patch = 0;
	return DLB_SUCCESS;
}

const char *DLB_Strerror(int error)
{
	switch (error) {
	case DLB_NOUPDT: return "there is nothing to do";
	case DLB_NOTED: return "not now: it is done when it can be";
	case DLB_SUCCESS: return "success";
	case DLB_ERR_NOINIT: return "DLB_Init has not been called";
	case DLB_ERR_INIT: return "DLB_Init has been called before";
	case DLB_ERR_DISBLD: return "DLB_Disable has been called";
	case DLB_ERR_NOPROC: return "there is no such process";
	case DLB_ERR_PERM: return "not on this thread, in this place, or with this CPU";
	case DLB_ERR_NOCBK: return "there is no such callback";
	case DLB_ERR_NOENT: return "there is no such entry";
	case DLB_ERR_NOCOMP: return "dlb=yes of malleable does not have this, or an option is off";
	case DLB_ERR_NOMEM: return "there is no room for more";
	case DLB_ERR_NOLEWI: return "the options lack --lewi";
	default: return "unknown error";
	}
}

/* Any process may observe others, and ask for the CPUs of processes; none is known. */
static int done(void)
{
	return DLB_SUCCESS;
}

static int no_process(void)
{
	return DLB_ERR_NOPROC;
}

int DLB_DROM_GetNumCpus(int *cpus)
{
	*cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	return DLB_SUCCESS;
}

/* Whoever reads the list whatever is returned reads none. */
static int empty_list(void *list, int *count)
{
	(void)list;
	*count = 0;
	return DLB_ERR_NOCOMP;
}

static int nothing(void)
{
	return DLB_ERR_NOCOMP;
}

static void *no_handle(void)
{
	return NULL;
}

/* Whatever the parameters are, none of these reads one. */
#define IS(answer) __attribute__((alias(#answer)))
int DLB_DROM_Attach(void) IS(done), DLB_DROM_Detach(void) IS(done), DLB_TALP_Attach(void) IS(done),
	DLB_TALP_Detach(void) IS(done), DLB_SetObserverRole(void) IS(done);

#define PROCESS(name) name(void) IS(no_process)
int PROCESS(DLB_DROM_GetProcessMask), PROCESS(DLB_DROM_SetProcessMask),
	PROCESS(DLB_DROM_SetProcessMaskStr), PROCESS(dlb_drom_setprocessmaskstr_),
	PROCESS(DLB_DROM_PostFinalize), PROCESS(DLB_DROM_RecoverStolenCpus);

#define HANDLE(name) *name(void) IS(no_handle)
void HANDLE(DLB_BarrierNamedRegister), HANDLE(dlb_barriernamedregister_),
	HANDLE(DLB_BarrierNamedGet), HANDLE(dlb_barriernamedget_), HANDLE(DLB_MNGO_RegionRegister),
	HANDLE(dlb_mngo_regionregister_);

#define LIST(name) name(void *list, int *count) IS(empty_list)
int LIST(DLB_Stats_GetPidList), LIST(DLB_Stats_GetCpuUsageList), LIST(DLB_Stats_GetCpuAvgUsageList),
	LIST(DLB_Stats_GetActiveCpusList), LIST(DLB_DROM_GetPidList), LIST(DLB_TALP_GetPidList);

#define NOT(name) name(void) IS(nothing)
int NOT(DLB_PreInit), NOT(DLB_DROM_PreInit), NOT(DLB_PrintShmem), NOT(DLB_GetGPUAffinity);
int NOT(DLB_SetVariable), NOT(dlb_setvariable_), NOT(DLB_GetVariable), NOT(dlb_getvariable_),
	NOT(DLB_PrintVariables);
int NOT(DLB_TALP_CollectPOPMetrics), NOT(DLB_TALP_CollectPOPNodeMetrics),
	NOT(DLB_TALP_CollectNodeMetrics), NOT(DLB_TALP_QueryPOPNodeMetrics),
	NOT(dlb_talp_querypopnodemetrics_), NOT(DLB_TALP_GetNumCPUs), NOT(DLB_TALP_GetNodeTimes);
int NOT(DLB_Barrier), NOT(DLB_BarrierAttach), NOT(DLB_BarrierDetach), NOT(DLB_BarrierNamed),
	NOT(DLB_BarrierNamedAttach), NOT(DLB_BarrierNamedDetach);
int NOT(DLB_MNGO_RegionStart), NOT(DLB_MNGO_RegionStop), NOT(DLB_MNGO_Wake_manager);
int NOT(DLB_Stats_Init), NOT(DLB_Stats_Finalize), NOT(DLB_Stats_GetNumCpus),
	NOT(DLB_Stats_GetCpuUsage), NOT(DLB_Stats_GetCpuAvgUsage), NOT(DLB_Stats_GetNodeUsage),
	NOT(DLB_Stats_GetNodeAvgUsage), NOT(DLB_Stats_GetActiveCpus), NOT(DLB_Stats_GetLoadAvg),
	NOT(DLB_Stats_GetCpuStateIdle), NOT(DLB_Stats_GetCpuStateOwned),
	NOT(DLB_Stats_GetCpuStateGuested);
