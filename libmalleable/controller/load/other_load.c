/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* other_load.c: how much of the ranks' CPUs others use: processes, or a virtual machine's host. */
#include "libmalleable/controller/load/other_load.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* The kernel counts in hundredths of a second, and reading takes a millisecond on large nodes. */
#define READ_AGAIN_S 1.0

/* Parse a line "cpuN user nice system idle iowait irq softirq steal ...". */
static bool parse_line(const char *line, unsigned int *cpu, double *ticks)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;

	/* The first line has the sum, behind a blank. */
	if (!isdigit((unsigned char)line[3]) ||
	    sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", cpu, &user, &nice,
		   &system, &idle, &iowait, &irq, &softirq, &steal) != 9)
		return false;
	*ticks = (double)(user + nice + system + steal);
	return true;
}

double mal_others_busy(FILE *stat, const struct mal_cpumask *cpus)
{
	double sum = 0, ticks;
	unsigned int found = 0, count = mal_cpumask_count(cpus), cpu;
	char line[256];

	while (stat && found < count && fgets(line, sizeof(line), stat) &&
	       strncmp(line, "cpu", 3) == 0)
		if (parse_line(line, &cpu, &ticks) && cpu < MAL_MAX_CPUS &&
		    mal_cpumask_has(cpus, cpu)) {
			sum += ticks;
			found++;
		}
	return found == count ? sum / (double)sysconf(_SC_CLK_TCK) : 0;
}

bool mal_others_add(struct mal_others *others, double ranks_s, double now_s)
{
	if (others->busy_s > 0)
		others->ranks_s += ranks_s;
	return others->at_s <= 0 || now_s - others->at_s >= READ_AGAIN_S;
}

void mal_others_count(struct mal_others *others, double busy_s, unsigned int count, double now_s)
{
	if (others->busy_s > 0 && busy_s > 0) {
		others->others_s += busy_s - others->busy_s - others->ranks_s;
		others->all_s += (now_s - others->at_s) * count;
	}
	others->busy_s = busy_s;
	others->at_s = now_s;
	others->ranks_s = 0;
}

void mal_others_skip(struct mal_others *others)
{
	others->busy_s = others->at_s = 0;
}

double mal_others_part(const struct mal_others *others)
{
	if (others->all_s <= 0)
		return NAN;
	return fmin(fmax(others->others_s / others->all_s, 0), 1);
}
