// SPDX-License-Identifier: LGPL-2.1-or-later
/* A function that another library gives the address of. */
#include "corpus.h"
#include "external.h"
enum { N = 256 };
static int a[N];

int main(void)
{
	int n = corpus_int(N);
	external_function *who = external_choice();

#pragma omp parallel for schedule(static) /* bound: identity */
	for (int i = 0; i < n; i++)
		a[i] = who();
	corpus_add(a, sizeof(a));
	return corpus_end();
}
