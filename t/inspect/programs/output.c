// SPDX-License-Identifier: LGPL-2.1-or-later
/* Output to the terminal and to files. */
#include "corpus.h"
#include <string.h>
#include <unistd.h>
enum { N = 60 };
static double a[N];

int main(void)
{
	int n = corpus_int(N);
	FILE *file = tmpfile();
	char line[64];

	if (!file)
		return 1;
#pragma omp parallel /* free */
	{
#pragma omp for
		for (int i = 0; i < n; i++)
			a[i] = corpus_value(i);
#pragma omp master
		printf("filled\n");
	}
#pragma omp parallel /* free */
	{
#pragma omp single
		fprintf(file, "%g\n", a[7]);
#pragma omp for ordered
		for (int i = 0; i < n; i++) {
#pragma omp ordered
			fprintf(file, "%d %g\n", i, a[i]);
		}
	}
#pragma omp parallel /* bound: count */
	printf("a thread\n");
#pragma omp parallel /* bound: count */
	{
#pragma omp critical
		fputs("here\n", file);
	}
#pragma omp parallel for /* open: order */
	for (int i = 0; i < n; i++)
		printf("same line\n");
	rewind(file);
	while (fgets(line, sizeof(line), file))
		corpus_add(line, strlen(line));
	fclose(file);
	return corpus_end();
}
