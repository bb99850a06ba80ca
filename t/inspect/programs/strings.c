// SPDX-License-Identifier: LGPL-2.1-or-later
/* Instructions on strings: two of them have the names of others, on vectors. */
#include "corpus.h"
#include <omp.h>
enum { N = 120, WORDS = 4 };
static int left[N * WORDS], right[N * WORDS], same[N];

/* Whether COUNT words are the same, by bytes or at once. */
#define IS_SAME(instruction, p, q, count) \
	({ \
		const int *from = (p), *to = (q); \
		long words = (count); \
		char equal; \
		__asm__ volatile("repe; " instruction "; sete %3" \
				 : "+S"(from), "+D"(to), "+c"(words), "=q"(equal) \
				 : \
				 : "memory", "cc"); \
		equal; \
	})

int main(void)
{
	int n = corpus_int(N), sum = 0;

	for (int i = 0; i < n * WORDS; i++)
		left[i] = right[i] = i % 7 ? i : -i;
	right[WORDS * 3] = 1;
#pragma omp parallel for reduction(+ : sum) /* free */
	for (int i = 0; i < n; i++)
		sum += IS_SAME("cmpsb", left + i * WORDS, right + i * WORDS, WORDS);
#pragma omp parallel for reduction(+ : sum) /* free */
	for (int i = 0; i < n; i++)
		sum += IS_SAME("cmpsl", left + i * WORDS, right + i * WORDS, WORDS);
#pragma omp parallel /* bound: a number in an address */
	(void)IS_SAME("cmpsb", left + omp_get_thread_num() % n, right, WORDS);
#pragma omp parallel /* bound: a number in an address */
	(void)IS_SAME("cmpsl", left + omp_get_thread_num() % n, right, WORDS);
#pragma omp parallel /* bound: a count as a length */
	(void)IS_SAME("cmpsb", left, right, omp_get_num_threads() % n);
#pragma omp parallel /* bound: a count as a length */
	(void)IS_SAME("cmpsl", left, right, omp_get_num_threads() % n);
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		const int *from = left + i * WORDS;
		int *to = right + i * WORDS;
		long words = WORDS;

		__asm__ volatile("rep; movsl" : "+S"(from), "+D"(to), "+c"(words) : : "memory");
	}
	for (int i = 0; i < n; i++)
		same[i] = IS_SAME("cmpsl", left + i * WORDS, right + i * WORDS, WORDS);
	corpus_add(same, sizeof(same));
	corpus_number(sum);
	return corpus_end();
}
