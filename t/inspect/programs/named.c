// SPDX-License-Identifier: LGPL-2.1-or-later
/* Functions found by their names while the program runs. */
#define _GNU_SOURCE
#include "corpus.h"
#include <dlfcn.h>
enum { N = 128 };
static double a[N], b[N];
static int (*asked)(void);

int main(void)
{
	int n = corpus_int(N);

	asked = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_thread_num");
#pragma omp parallel for /* bound: identity, shown */
	for (int i = 0; i < n; i++)
		a[i] = asked();
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++)
		b[i] = corpus_value(i);
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	return corpus_end();
}
