// SPDX-License-Identifier: LGPL-2.1-or-later
/* Instructions with operands that are not written: what they read and write counts too. */
#include "corpus.h"
#include <omp.h>
enum { N = 128 };
static unsigned char table[N][16], saved[N][512] __attribute__((aligned(16)));
static int looked[N];

int main(void)
{
	int n = corpus_int(N);
	long first;

	__asm__ volatile("movq %%fs:16, %0" : "=r"(first));

#pragma omp parallel for schedule(static) /* bound: identity */
	for (int i = 0; i < n; i++) {
		int t = omp_get_thread_num();
		unsigned char *to = table[i];

		__asm__ volatile(
			"movd %1, %%xmm3; pcmpeqd %%xmm4, %%xmm4; maskmovdqu %%xmm4, %%xmm3"
			:
			: "D"(to), "r"(t)
			: "memory", "xmm3", "xmm4");
	}
#pragma omp parallel for schedule(static) /* bound: identity */
	for (int i = 0; i < n; i++) {
		unsigned char own[16] = {0};
		unsigned char index = 3;

		own[3] = (unsigned char)omp_get_thread_num();
		__asm__ volatile("xlatb" : "+a"(index) : "b"(own) : "memory");
		looked[i] = index;
	}
#pragma omp parallel for schedule(static) /* bound: identity */
	for (int i = 0; i < n; i++) {
		int t = omp_get_thread_num();

		__asm__ volatile("movd %1, %%xmm5; fxsave %0"
				 : "=m"(saved[i])
				 : "r"(t)
				 : "memory", "xmm5");
	}
#pragma omp parallel for schedule(static) /* bound: tls */
	for (int i = 0; i < n; i++) {
		long at = 16, word;

		__asm__ volatile("lodsq %%fs:(%%rsi)" : "=a"(word), "+S"(at) : : "memory");
		looked[i] += word != first;
	}
	for (int i = 0; i < N; i++)
		corpus_add(&saved[i][160 + 5 * 16], 16);
	corpus_add(table, sizeof(table));
	corpus_add(looked, sizeof(looked));
	return corpus_end();
}
