// SPDX-License-Identifier: LGPL-2.1-or-later
/* Questions in disguise: by address, by dlsym, by an alias, in a macro that casts. */
#define _GNU_SOURCE
#include "corpus.h"
#include <dlfcn.h>
#include <omp.h>
enum { N = 128, MOST = 64 };
static double a[N], b[N], c[N], d[N];
static int (*const ask)(void) = omp_get_thread_num;
static int (*asked)(void);

NOINLINE static int real_who(void)
{
	return omp_get_thread_num();
}
int alias_who(void) __attribute__((alias("real_who_")));
NOINLINE int real_who_(void)
{
	return real_who() * 2;
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		a[i] = ask();
	asked = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_thread_num");
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		b[i] = asked();
#pragma omp parallel for /* bound: identity */
	for (int i = 0; i < n; i++)
		c[i] = alias_who();
#pragma omp parallel for /* bound: number */
	for (int i = 0; i < n; i++) {
		int (*number)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_num_threads");

		d[i] = number();
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	corpus_add(d, sizeof(d));
	return corpus_end();
}
