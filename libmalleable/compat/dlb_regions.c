/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dlb_regions.c: DLB's monitoring regions: named regions, and what the rank did there in DLB's
 * struct.
 *
 * Invariant: whatever handle a program passes, only structs of ours are read and written
 * (t/t2025-names.t).
 */
#include "libmalleable/compat/dlb.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define MALLEABLE_DLOPEN
#include "libmalleable/malleable.h"

#define REGIONS_MAX 65 /* malleable_region() has 64 names; the first here is the whole program */
#define LAST_OPEN ((const struct dlb_monitor *)1)
#define NAME_MAX_OURS 64

static struct region {
	struct dlb_monitor monitor;
	char name[DLB_NAME_MAX];
	int number;		      /* malleable_region(); 0: the whole program */
	unsigned long opened;	      /* in this order; 0: it is not open */
	struct malleable_times since; /* what the rank had done when it was opened, or read last */
} regions[REGIONS_MAX];
/* Programs read what they get: this where there is no room, or another thread asks first. */
static struct region unmeasured = {.monitor.name = "", .number = INT_MAX};
static atomic_int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* who adds a region holds it */
static unsigned long openings;

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* What the rank has done. Returns 0, or below it. */
static int look(struct malleable_times *times)
{
	*times = (struct malleable_times){.size = sizeof(*times)};
	return malleable_region_times(0, times);
}

static void open_at(struct region *region, const struct malleable_times *times)
{
	region->opened = ++openings;
	region->since = *times;
	region->monitor.start_time = now();
	region->monitor.stop_time = 0;
}

/* Add what the rank has done in REGION since it was read last. */
static void read_until(struct region *region, const struct malleable_times *times)
{
	struct dlb_monitor *monitor = &region->monitor;
	const struct malleable_times *since = &region->since;

	monitor->num_cpus = malleable_cpus_owned();
	monitor->avg_cpus = (float)monitor->num_cpus;
	monitor->num_omp_parallels += (int64_t)(times->parallel_regions - since->parallel_regions);
	monitor->elapsed_time += (int64_t)(times->elapsed - since->elapsed);
	monitor->useful_time +=
		(int64_t)(times->work - since->work + times->serial - since->serial);
	monitor->mpi_time += (int64_t)(times->mpi - since->mpi);
	monitor->omp_load_imbalance_time += (int64_t)(times->idle - since->idle);
	region->since = *times;
}

static struct region *add(const char *name, int number)
{
	struct region *region = &regions[count];

	snprintf(region->name, sizeof(region->name), "%s", name);
	region->monitor.name = region->name;
	region->number = number;
	count++;
	return region;
}

/* The whole program is a region that is open from the first call on. */
static struct region *whole(void)
{
	struct malleable_times times;

	pthread_mutex_lock(&lock);
	if (!count && look(&times) >= 0)
		open_at(add(DLB_GLOBAL, 0), &times);
	pthread_mutex_unlock(&lock);
	return count ? &regions[0] : &unmeasured;
}

/* The region of HANDLE, which may be anything; NULL: there is none. */
static struct region *find(const struct dlb_monitor *handle)
{
	struct region *found = NULL;

	if (!handle)
		return whole();
	if (handle == &unmeasured.monitor)
		return &unmeasured;
	for (int i = 0; i < count; i++) {
		if (handle == &regions[i].monitor)
			return &regions[i];
		if (handle == LAST_OPEN && regions[i].opened > (found ? found->opened : 0))
			found = &regions[i];
	}
	return found;
}

struct dlb_monitor *DLB_MonitoringRegionGetGlobal(void)
{
	return &whole()->monitor;
}
struct dlb_monitor *DLB_MonitoringRegionGetImplicit(void)
	__attribute__((alias("DLB_MonitoringRegionGetGlobal")));
struct dlb_monitor *DLB_MonitoringRegionGetMPIRegion(void)
	__attribute__((alias("DLB_MonitoringRegionGetGlobal")));

/* Our name of a region: shorter than DLB's, and of printable letters of ASCII. */
static int our_region(const char *name)
{
	char text[NAME_MAX_OURS];

	snprintf(text, sizeof(text), "%s", name);
	for (char *letter = text; *letter; letter++)
		if (*letter < ' ' || *letter > '~')
			*letter = '?';
	return malleable_region(text);
}

/* The region of NAME, which is added if it is new. */
static struct region *named(const char *name)
{
	int number;

	if (strcasecmp(name, DLB_GLOBAL) == 0)
		return &regions[0];
	for (int i = 1; i < count; i++)
		if (strncmp(regions[i].name, name, DLB_NAME_MAX - 1) == 0)
			return &regions[i];
	number = count < REGIONS_MAX ? our_region(name) : MALLEABLE_E_FULL;
	return number < 0 ? &unmeasured : add(name, number);
}

struct dlb_monitor *DLB_MonitoringRegionRegister(const char *name)
{
	struct region *region = whole();
	char anonymous[32];

	if (region == &unmeasured)
		return &region->monitor;
	pthread_mutex_lock(&lock);
	snprintf(anonymous, sizeof(anonymous), "region %d", count);
	region = named(name && *name ? name : anonymous);
	pthread_mutex_unlock(&lock);
	return &region->monitor;
}

struct dlb_monitor *dlb_monitoringregionregister_(const char *name, size_t length)
{
	char text[DLB_NAME_MAX];

	return DLB_MonitoringRegionRegister(mal_dlb_text(name, length, text, sizeof(text)));
}

int DLB_MonitoringRegionStart(struct dlb_monitor *handle)
{
	struct region *region = find(handle);
	struct malleable_times times;

	if (!region)
		return DLB_ERR_NOENT;
	if (region->opened)
		return DLB_NOUPDT;
	if (look(&times) < 0 || (region->number && malleable_region_begin(region->number) < 0))
		return DLB_ERR_PERM;
	open_at(region, &times);
	return DLB_SUCCESS;
}

int DLB_MonitoringRegionStop(struct dlb_monitor *handle)
{
	struct region *region = find(handle);
	struct malleable_times times;

	if (!region)
		return DLB_ERR_NOENT;
	if (!region->opened)
		return DLB_NOUPDT;
	if (look(&times) < 0 || (region->number && malleable_region_end(region->number) < 0))
		return DLB_ERR_PERM;
	read_until(region, &times);
	region->opened = 0;
	region->monitor.stop_time = now();
	region->monitor.num_measurements++;
	return DLB_SUCCESS;
}

int DLB_MonitoringRegionReset(struct dlb_monitor *handle)
{
	struct region *region = find(handle);
	struct malleable_times times;

	if (!region)
		return DLB_ERR_NOENT;
	if (look(&times) < 0)
		return DLB_ERR_PERM;
	if (region->opened && region->number)
		malleable_region_end(region->number);
	region->opened = 0;
	region->monitor = (struct dlb_monitor){.name = region->monitor.name,
					       .num_resets = region->monitor.num_resets + 1};
	return DLB_SUCCESS;
}

int DLB_MonitoringRegionsUpdate(void)
{
	struct malleable_times times;

	if (look(&times) < 0)
		return DLB_ERR_PERM;
	for (int i = 0; i < count; i++)
		if (regions[i].opened)
			read_until(&regions[i], &times);
	return DLB_SUCCESS;
}

int DLB_MonitoringRegionReport(const struct dlb_monitor *handle)
{
	const struct region *region = find(handle);
	const struct dlb_monitor *monitor;

	if (!region)
		return DLB_ERR_NOENT;
	DLB_MonitoringRegionsUpdate();
	monitor = &region->monitor;
	fprintf(stderr, "balance: region %s: %d runs, %.3f s; useful %.3f s, MPI %.3f s\n",
		region->name, monitor->num_measurements, (double)monitor->elapsed_time / 1e9,
		(double)monitor->useful_time / 1e9, (double)monitor->mpi_time / 1e9);
	return DLB_SUCCESS;
}

/* Of this process, seconds since it became a rank. */
int DLB_TALP_GetTimes(int pid, double *mpi_s, double *useful_s)
{
	struct malleable_times times;

	if (pid && pid != getpid())
		return DLB_ERR_NOPROC;
	if (look(&times) < 0)
		return DLB_ERR_PERM;
	*mpi_s = (double)times.mpi / 1e9;
	*useful_s = (double)(times.work + times.serial) / 1e9;
	return DLB_SUCCESS;
}
