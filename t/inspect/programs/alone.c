// SPDX-License-Identifier: LGPL-2.1-or-later
/* Loops that are right in one thread alone: what they share is not protected. */
#include "corpus.h"
#include <stdlib.h>
#include <string.h>
enum { N = 200, M = 64 };
static double out[N], work[M], history[N + 1];
double temporary;
static double line[3 * N + 3], plane[N + 1][8];
static int order[N], found, counts[8], counted_by[N];
static unsigned long *list;
static size_t length;
struct state {
	uint64_t seed;
	double *work;
	struct state *next;
};
static struct state state, *states = &state;
struct item {
	double value;
	struct state *common;
};
static struct item *items[N];
static union {
	double numbers[M];
	char bytes[M * sizeof(double)];
} both;

/* So that threads meet. */
NOINLINE static void spend(long n)
{
	for (volatile long i = 0; i < n; i++)
		;
}

NOINLINE static double integrate(int seed)
{
	double sum = 0;

	for (int i = 0; i < M; i++)
		work[i] = corpus_value(seed + i);
	spend(2000);
	for (int i = 0; i < M; i++)
		sum += work[i];
	return sum;
}

NOINLINE static double through(double *scratch, int seed)
{
	double sum = 0;

	for (int i = 0; i < M; i++)
		scratch[i] = corpus_value(seed + i);
	spend(2000);
	for (int i = 0; i < M; i++)
		sum += scratch[i];
	return sum;
}

NOINLINE static double deeper(struct state *of, int seed)
{
	return through(of->next->work, seed) + seed;
}

NOINLINE static uint64_t next(struct state *of)
{
	uint64_t seed = of->seed;

	spend(500);
	of->seed = seed * 2806196910506780709u + 1;
	return seed >> 54;
}

NOINLINE static int counted(void)
{
	static int count;
	int before = count;

	spend(500);
	count = before + 1;
	return before;
}

NOINLINE static void append(unsigned long x)
{
	list = realloc(list, (length + 1) * sizeof(*list));
	spend(500);
	list[length++] = x;
}

NOINLINE static void remember(int *where, int i)
{
	int before = *where;

	spend(500);
	*where = before + i;
}

NOINLINE static void count_by(int *where, int i)
{
	int before = where[i % 11];

	spend(500);
	where[i % 11] = before + 1;
}

int main(void)
{
	int n = corpus_int(N), last = 0;
	double *heap = malloc(M * sizeof(*heap)), carried = 0;

	states->work = malloc(M * sizeof(*heap));
	states->next = states;
#pragma omp parallel for schedule(dynamic) /* alone: a static work array, shown */
	for (int i = 0; i < n; i++)
		out[i] = integrate(i);
	corpus_add(out, sizeof(out));
#pragma omp parallel for schedule(dynamic) /* alone: one work array for all, shown */
	for (int i = 0; i < n; i++)
		out[i] = through(heap, i);
	corpus_add(out, sizeof(out));
#pragma omp parallel for schedule(dynamic) /* alone: a pointer in a structure of all, shown */
	for (int i = 0; i < n; i++)
		out[i] = through(states->work, i);
	corpus_add(out, sizeof(out));
#pragma omp parallel for schedule(dynamic) /* alone: a pointer behind another one, shown */
	for (int i = 0; i < n; i++)
		out[i] = deeper(states, i);
	corpus_add(out, sizeof(out));
#pragma omp parallel for schedule(dynamic) /* alone: drand48, shown */
	for (int i = 0; i < n; i++) {
		out[i] = drand48();
		spend(500);
	}
	corpus_add(out, sizeof(out));
#pragma omp parallel for schedule(dynamic) /* alone: rand, shown */
	for (int i = 0; i < n; i++) {
		out[i] = rand();
		spend(500);
	}
	corpus_add(out, sizeof(out));
#pragma omp parallel for schedule(dynamic) /* alone: one generator for all, shown */
	for (int i = 0; i < n; i++)
		out[i] = (double)next(&state);
	corpus_add(out, sizeof(out));
#pragma omp parallel for schedule(dynamic) /* alone: a static variable of a function, shown */
	for (int i = 0; i < n; i++)
		out[i] = counted();
	corpus_add(out, sizeof(out));
#pragma omp parallel for schedule(dynamic) /* alone: a variable that should be private, shown */
	for (int i = 0; i < n; i++) {
		temporary = 0;
		for (int k = 0; k < 40; k++) {
			spend(20);
			temporary += corpus_value(i + k);
		}
		out[i] = temporary;
	}
	corpus_add(out, sizeof(out));
#pragma omp parallel for schedule(dynamic) /* alone: the same in the frame, shown */
	for (int i = 0; i < n; i++)
		remember(&last, i);
	corpus_number(last);
#pragma omp parallel for schedule(dynamic) /* alone: bytes of a union, shown */
	for (int i = 0; i < n; i++) {
		memset(both.bytes, i, sizeof(both.bytes));
		spend(500);
		out[i] = both.bytes[M - 1];
	}
	corpus_add(out, sizeof(out));
#pragma omp parallel for schedule(dynamic) /* alone: text in a place of all */
	for (int i = 0; i < n; i++) {
		snprintf(both.bytes, sizeof(both.bytes), "%d", i);
		spend(500);
		out[i] = atoi(both.bytes);
	}
	corpus_add(out, sizeof(out));
	free(list);
	list = NULL;
#pragma omp parallel for schedule(dynamic) /* alone: a list that grows */
	for (int i = 0; i < n; i++)
		append((unsigned long)i);
	corpus_add(list, length * sizeof(*list));
#pragma omp parallel for schedule(dynamic) /* alone: the next place of a list, shown */
	for (int i = 0; i < n; i++)
		if (corpus_value(i) > 300) {
			int place = found;

			spend(500);
			order[place] = i;
			found = place + 1;
		}
	corpus_add(order, sizeof(order));
#pragma omp parallel for schedule(dynamic) /* alone: lines in order, shown */
	for (int i = 0; i < n; i++) {
		spend((n - i) % 7 * 100);
		printf("%d %.0f\n", i, corpus_value(i));
	}
#pragma omp parallel for firstprivate(carried) schedule(dynamic) /* bound: carried, shown */
	for (int i = 0; i < n; i++) {
		carried += corpus_value(i);
		history[i] = carried;
		spend(500);
	}
	corpus_add(history, sizeof(history));
#pragma omp parallel for schedule(dynamic) /* alone: one of a few counters, shown */
	for (int i = 0; i < n; i++) {
		int *which = counts + order[i] % 8, before = *which;

		spend(500);
		*which = before + 1;
	}
	corpus_add(counts, sizeof(counts));
#pragma omp parallel for schedule(dynamic) /* alone: one of two variables, shown */
	for (int i = 0; i < n; i++)
		remember(order[i] & 1 ? &last : &found, i);
	corpus_number(last + found);
#pragma omp parallel for schedule(dynamic) /* alone: the token that is next */
	for (int i = 0; i < n; i++) {
		char text[16] = "a b c";

		strtok(text, " ");
		spend(500);
		out[i] = strtok(NULL, " ")[0];
	}
	corpus_add(out, sizeof(out));
#pragma omp parallel for /* alone: what the iteration before stored, shown */
	for (int i = 1; i < n; i++) {
		double before = line[i - 1];

		spend(500);
		line[i] = before + corpus_value(i);
	}
	corpus_add(line, sizeof(line));
#pragma omp parallel for schedule(dynamic) /* alone: a remainder */
	for (int i = 0; i < n; i++) {
		int before = counted_by[i % 16];

		spend(500);
		counted_by[i % 16] = before + 1;
	}
	corpus_add(counted_by, sizeof(counted_by));
#pragma omp parallel for schedule(dynamic) /* alone: a remainder of an odd number */
	for (int i = 0; i < n; i++) {
		int before = counted_by[i % 11];

		spend(500);
		counted_by[i % 11] = before + i;
	}
	corpus_add(counted_by, sizeof(counted_by));
#pragma omp parallel for schedule(dynamic) /* alone: a remainder in a function */
	for (int i = 0; i < n; i++)
		count_by(counted_by, i);
	corpus_add(counted_by, sizeof(counted_by));
#pragma omp parallel for schedule(dynamic) /* alone: some bits */
	for (int i = 0; i < n; i++) {
		int before = counted_by[i & 7];

		spend(500);
		counted_by[i & 7] = before + 1;
	}
	corpus_add(counted_by, sizeof(counted_by));
#pragma omp parallel for schedule(dynamic) /* alone: a half, shown */
	for (int i = 0; i < n; i++) {
		int before = counted_by[i >> 1];

		spend(500);
		counted_by[i >> 1] = before * 2 + i;
	}
	corpus_add(counted_by, sizeof(counted_by));
#pragma omp parallel for schedule(dynamic) /* alone: a third, shown */
	for (int i = 0; i < n; i++) {
		spend(500 * (5 - i % 3));
		counted_by[i / 3] = i;
	}
	corpus_add(counted_by, sizeof(counted_by));
#pragma omp parallel for schedule(dynamic) /* alone: whether it is large, shown */
	for (int i = 0; i < n; i++) {
		spend(i % 7 * 100);
		counted_by[i > 9] = i;
	}
	corpus_add(counted_by, sizeof(counted_by));
	for (int i = 0; i < n; i++) {
		items[i] = malloc(sizeof(**items));
		items[i]->common = states;
	}
#pragma omp parallel for schedule(dynamic) /* alone: what all items lead to, shown */
	for (int i = 0; i < n; i++) {
		spend(i % 7 * 100);
		items[i]->common->seed = (uint64_t)i;
	}
	corpus_number((double)state.seed);
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++)
		items[i]->value = i;
#pragma omp parallel for /* hot */
	for (int i = 0; i < n; i++) {
		line[3 * i] = i;
		line[3 * i + 1] = line[3 * i] + corpus_value(i);
		line[3 * i + 2] = line[3 * i + 1] * 2;
	}
	corpus_add(line, sizeof(line));
#pragma omp parallel for /* hot */
	for (int i = 1; i < n; i++)
		out[i] = line[i - 1] + line[i + 1];
	corpus_add(out, sizeof(out));
#pragma omp parallel for collapse(2) /* hot: not by gcc */
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 8; k++)
			plane[i][k] = corpus_value(i + k);
	corpus_add(plane, sizeof(plane));
#pragma omp parallel for collapse(2) schedule(dynamic) /* hot */
	for (int i = 0; i < n; i++)
		for (int k = 0; k < corpus_int(8); k++)
			plane[i][k] += corpus_value(i + k);
	corpus_add(plane, sizeof(plane));
	return corpus_end();
}
