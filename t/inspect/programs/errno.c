// SPDX-License-Identifier: LGPL-2.1-or-later
/* errno, setjmp, and text of the C library. */
#include "corpus.h"
#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
enum { N = 150 };
static double a[N], b[N];

NOINLINE static void jump(jmp_buf where, int i)
{
	if (i % 3 == 0)
		longjmp(where, i + 1);
}

int main(void)
{
	int n = corpus_int(N), errors = 0;

#pragma omp parallel for /* open: errno */
	for (int i = 0; i < n; i++) {
		errno = 0;
		strtol(i % 4 ? "12" : "99999999999999999999", NULL, 10);
		a[i] = errno == ERANGE ? 1 : 2;
	}
#pragma omp parallel for /* bound: tls */
	for (int i = 0; i < n; i++) {
		if (i == n / 2)
			errno = ERANGE;
		b[i] = errno == ERANGE ? 1 : 2;
	}
	errno = 0;
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++) {
		jmp_buf where;
		volatile int k = i;

		if (setjmp(where) == 0)
			jump(where, k);
		else
			a[k] += 100;
	}
#pragma omp parallel for reduction(+ : errors) /* free */
	for (int i = 0; i < n; i++) {
		char text[32];

		snprintf(text, sizeof(text), "%d:%d", i, i * i);
		errors += (int)strlen(text) + (strchr(text, '7') != NULL);
	}
	corpus_add(a, sizeof(a));
	corpus_add(b, sizeof(b));
	corpus_number(errors);
	return corpus_end();
}
