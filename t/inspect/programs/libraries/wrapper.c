// SPDX-License-Identifier: LGPL-2.1-or-later
/* A library that cannot tell itself, but calls one that can. */
#include "../libraries.h"

double wrapper_value(double x)
{
	return gpu_value(x) * 2;
}
