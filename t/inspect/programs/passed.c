// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a function is given and passes on as it is, to one that takes any number of arguments. */
#include "corpus.h"
#include <omp.h>
#include <string.h>
enum { N = 96, SIZE = 32 };
static char texts[N][SIZE];
static int sizes[N];
static const char *forms[] = {"%d", "%u", "%d %d %d"};

static NOINLINE int fourth(char *to, size_t size, const char *format, int value)
{
	return snprintf(to, size, format, value);
}

static NOINLINE int sixth(char *to, size_t size, const char *format, int one, int two, int three)
{
	return snprintf(to, size, format, one, two, three);
}

static NOINLINE void check(void)
{
	corpus_add(texts, sizeof(texts));
	memset(texts, 1, sizeof(texts));
}

int main(void)
{
	int n = corpus_int(N);

	for (int i = 0; i < n; i++)
		sizes[i] = SIZE - i % 3;
#pragma omp parallel for schedule(static, 1) /* bound: a number as text, shown */
	for (int i = 0; i < n; i++)
		fourth(texts[i], sizes[i], forms[i % 2], omp_get_thread_num());
	check();
#pragma omp parallel for schedule(static, 1) /* bound: a number as text, shown */
	for (int i = 0; i < n; i++)
		sixth(texts[i], sizes[i], forms[2], i, sizes[i], omp_get_thread_num());
	check();
#pragma omp parallel for /* free */
	for (int i = 0; i < n; i++)
		fourth(texts[i], sizes[i], forms[i % 2], i);
	check();
	return corpus_end();
}
