// SPDX-License-Identifier: LGPL-2.1-or-later
/* A library that programs of the corpus link: calls whose code is elsewhere. */
#include "external.h"

#include <omp.h>

static _Atomic long calls;

double external_value(double x)
{
	return x * 2 + 1;
}

void external_send(const double *data, int count)
{
	for (int i = 0; i < count; i++)
		calls += (long)data[i];
}

void external_count(void)
{
	calls++;
}

long external_calls(void)
{
	return calls;
}

static int who(void)
{
	return omp_get_thread_num();
}

external_function *external_choice(void)
{
	return who;
}
