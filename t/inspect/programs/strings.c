// SPDX-License-Identifier: LGPL-2.1-or-later
/* Instructions that copy, set and compare many words at once. */
#include "corpus.h"
#include <omp.h>
enum { N = 64 };
struct record {
	int words[24];
};
static struct record records[N], others[N];
static int same[N];

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel for schedule(static) /* bound: identity */
	for (int i = 0; i < n; i++) {
		struct record own = {{0}};
		const int *from = own.words;
		int *to = records[i].words;
		long count = 24;

		own.words[0] = 0;
		own.words[20] = omp_get_thread_num();
		__asm__ volatile("rep movsl" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
	}
#pragma omp parallel for schedule(static) /* bound: identity */
	for (int i = 0; i < n; i++) {
		struct record own = {{0}};

		own.words[21] = omp_get_thread_num();
		others[i] = own;
	}
#pragma omp parallel for schedule(static) /* bound: identity */
	for (int i = 0; i < n; i++) {
		int own[4] = {0, 0, 0, 0};
		const int *left = own, *right = others[N - 1].words;
		long count = 4;
		unsigned char equal;

		own[0] = 0;
		own[2] = omp_get_thread_num();
		__asm__ volatile("repe cmpsl; sete %3"
				 : "+S"(left), "+D"(right), "+c"(count), "=q"(equal)
				 :
				 : "memory", "cc");
		same[i] = equal;
	}
#pragma omp parallel for schedule(static) /* bound: identity */
	for (int i = 0; i < n; i++) {
		int own[8], t = omp_get_thread_num();
		int *to = own;
		long count = 8;

		own[0] = 0;
		own[5] = 0;
		__asm__ volatile("rep stosl" : "+D"(to), "+c"(count) : "a"(t) : "memory");
		same[i] += own[5] * 2;
	}
	corpus_add(records, sizeof(records));
	corpus_add(others, sizeof(others));
	corpus_add(same, sizeof(same));
	return corpus_end();
}
