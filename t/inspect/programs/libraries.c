// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls into shared libraries, which are judged as objects. Libraries: plain gpu wrapper tls. */
#include "libraries.h"
#include "corpus.h"
#include <omp.h>
enum { N = 140 };
static double a[N], b[N], c[N], d[N], e[N];

static double who(double x)
{
	return x + omp_get_thread_num();
}

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		a[i] = plain_value(i);
#pragma omp parallel for /* bound: library */
	for (int i = 0; i < n; i++)
		b[i] = tls_value(i);
#pragma omp parallel /* bound: library */
	{
		gpu_set_device(1);
#pragma omp for schedule(static)
		for (int i = 0; i < n; i++)
			c[i] = gpu_value(i);
	}
	gpu_set_device(2);
	// Other threads than the first one have no device.
#pragma omp parallel for schedule(static) /* bound: library, shown */
	for (int i = 0; i < n; i++)
		c[i] += gpu_value(i);
#pragma omp parallel for schedule(static) /* bound: library, shown */
	for (int i = 0; i < n; i++)
		d[i] = wrapper_value(i);
#pragma omp parallel for /* bound: indirect, shown */
	for (int i = 0; i < n; i++)
		e[i] = plain_apply(who, i);
	plain_region(a, n);
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	corpus_add(d, sizeof(d));
	corpus_add(e, sizeof(e));
	return corpus_end();
}
