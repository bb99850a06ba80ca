// SPDX-License-Identifier: LGPL-2.1-or-later
/* The thread's number and the team's size, asked in each way. */
#define _GNU_SOURCE
#include "corpus.h"
#include <dlfcn.h>
#include <omp.h>
enum { N = 128 };
static double a[N], b[N], c[N], d[N], e[N], f[N], g[N];
static int (*const ask)(void) = omp_get_thread_num;
static int (*asked)(void) = omp_get_num_threads;
static int sizes;

NOINLINE static double who(double x)
{
	return x + omp_get_thread_num();
}

NOINLINE static void deep(double *to, int i)
{
	*to += who(i);
}

int main(void)
{
	int n = corpus_int(N), debug = corpus_int(0);

#pragma omp parallel for /* bound: identity, shown */
	for (int i = 0; i < n; i++)
		a[i] = omp_get_thread_num();
#pragma omp parallel for /* bound: number, shown */
	for (int i = 0; i < n; i++)
		a[i] += omp_get_num_threads();
#pragma omp parallel for /* bound: identity, shown */
	for (int i = 0; i < n; i++)
		deep(&b[i], i);
#pragma omp parallel for /* bound: identity, shown */
	for (int i = 0; i < n; i++)
		c[i] = ask();
#pragma omp parallel for /* bound: number, shown */
	for (int i = 0; i < n; i++)
		d[i] = asked();
#pragma omp parallel for reduction(+ : sizes) /* bound: number, shown */
	for (int i = 0; i < n; i++)
		sizes += omp_get_team_size(1) + omp_get_ancestor_thread_num(1);
#pragma omp parallel for /* bound: number, shown */
	for (int i = 0; i < n; i++)
		e[i] = omp_in_parallel() ? 1 : 2;
#pragma omp parallel for /* bound: number, shown */
	for (int i = 0; i < n; i++)
		e[i] += omp_get_active_level();
#pragma omp parallel for /* bound: identity, shown */
	for (int i = 0; i < n; i++) {
		int (*found)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_thread_num");

		f[i] = found();
	}
#pragma omp parallel /* bound: identity */
	{
		if (debug)
			printf("thread %d\n", omp_get_thread_num());
#pragma omp for
		for (int i = 0; i < n; i++)
			g[i] = i;
	}
#pragma omp parallel /* bound: identity, shown */
	if (omp_get_thread_num() == 1)
		g[0] = 1;
#pragma omp parallel for /* open: told */
	for (int i = 0; i < n; i++)
		g[i] += omp_get_max_threads();
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++)
		g[i] += i + (omp_get_wtime() < 0);
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	corpus_add(d, sizeof(d));
	corpus_add(e, sizeof(e));
	corpus_add(f, sizeof(f));
	corpus_add(g, sizeof(g));
	corpus_number(sizes);
	return corpus_end();
}
