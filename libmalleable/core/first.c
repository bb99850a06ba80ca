/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* first.c: which rank prints what is the same in all ranks of a step. */
#include "libmalleable/core/first.h"

#include <stddef.h>

/* mpirun's ranks have Slurm's variable too: that of the script or the daemon around them. */
static const char *const names[] = {
	"OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK=", "SLURM_PROCID="};

/* The barrier keeps the compiler from making this a call of the C library's. */
char *mal_behind(char *text, const char *prefix)
{
	for (; *prefix; text++, prefix++) {
		__asm__ volatile("" ::: "memory");
		if (*text != *prefix)
			return NULL;
	}
	return text;
}

bool mal_is_first(char *const *variables)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (char *const *at = variables; at && *at; at++) {
			const char *value = mal_behind(*at, names[i]);

			if (value)
				return value[0] == '0' && !value[1];
		}
	return true;
}
