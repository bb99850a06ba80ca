// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loops that become vectors, with masks where the processor has them. */
#include "corpus.h"
#include <omp.h>
enum { N = 64 };
static double a[N];
typedef int vector __attribute__((vector_size(16)));
static vector kept;
static int b[N], c[N], d[N], table[N];

int main(void)
{
	for (int i = 0; i < N; i++)
		table[i] = (int)corpus_value(i);
#pragma omp parallel /* bound: the count in a vector, shown */
	{
		double count = omp_get_num_threads();

		for (int i = 0; i < N; i++)
			a[i] = count;
	}
#pragma omp parallel /* bound: the count in a mask of loads, shown */
	{
		int count = omp_get_num_threads();

		for (int i = 0; i < N; i++)
			b[i] = i < count ? table[i] : 0;
	}
#pragma omp parallel /* bound: the count under a mask, shown */
	{
		int count = omp_get_num_threads();

		for (int i = 0; i < N; i++)
			c[i] = table[i] > 3 ? count : table[i];
	}
#pragma omp parallel /* bound: the count in a mask of stores, shown */
	{
		int count = omp_get_num_threads();

		for (int i = 0; i < N; i++)
			if (i < count)
				d[i] = table[i] + 1;
	}
#pragma omp parallel /* bound: the count in memory of which a mask leaves some, shown */
	{
		/* Without the stack's address, which would be passed on. */
		__asm__("sub $256, %%rsp\n\t"
			"vmovdqu %1, 64(%%rsp)\n\t"
			"vpxor %%xmm6, %%xmm6, %%xmm6\n\t"
			"vpmaskmovd %%ymm6, %%ymm6, 64(%%rsp)\n\t"
			"vmovdqu 64(%%rsp), %%xmm6\n\t"
			"vmovdqu %%xmm6, %0\n\t"
			"add $256, %%rsp"
			: "=m"(kept)
			: "x"((vector){omp_get_num_threads()})
			: "memory", "xmm6");
	}
#pragma omp parallel for /* free */
	for (int i = 0; i < N; i++)
		table[i] = table[i] > 3 ? table[i] + 1 : 7;
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_add(c, sizeof(c));
	corpus_add(d, sizeof(d));
	corpus_add(&kept, sizeof(kept));
	corpus_add(table, sizeof(table));
	return corpus_end();
}
