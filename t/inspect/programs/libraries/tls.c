// SPDX-License-Identifier: LGPL-2.1-or-later
/* A library with thread-local storage. */
#include "../libraries.h"

_Thread_local int tls_calls;

double tls_value(double x)
{
	return x * 3;
}
