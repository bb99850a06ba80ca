// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory and identity: addresses compared, buffers kept in shared lists, one buffer a thread. */
#include "corpus.h"
#include <stdlib.h>
enum { N = 100, MOST = 64 };
static double a[N];
static void *made[MOST];
static int many, distinct;

struct item {
	struct item *next;
	double value;
};
static struct item *list;

int main(void)
{
	int n = corpus_int(N);

#pragma omp parallel /* bound: count */
	{
		void *p = malloc(16);
		int place;
#pragma omp atomic capture
		place = many++;
		made[place % MOST] = p;
	}
#pragma omp parallel for /* open: order */
	for (int i = 0; i < n; i++) {
		struct item *item = malloc(sizeof(*item));

		item->value = corpus_value(i);
#pragma omp critical
		{
			item->next = list;
			list = item;
		}
	}
#pragma omp parallel /* bound: private */
	{
		double *p = calloc(1, sizeof(*p));
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] = ++*p;
		free(p);
	}
#pragma omp parallel for reduction(+ : distinct) /* free */
	for (int i = 0; i < n; i++) {
		char *p = malloc(8), *q = malloc(8);

		distinct += p != q;
		free(p);
		free(q);
	}
	while (list) {
		struct item *next = list->next;

		corpus_sum += (uint64_t)list->value;
		free(list);
		list = next;
	}
	for (int i = 0; i < MOST; i++) {
		corpus_number(made[i] ? 1 : 0);
		free(made[i]);
	}
	corpus_add(a, sizeof(a));
	corpus_number(many + distinct);
	return corpus_end();
}
