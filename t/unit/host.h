/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* host.h: loadable.c with a host that is no process: the test is, and writes into the exchange. */
#pragma once

#include "libmalleable/loadable/loadable.c"

static struct mal_exchange exchange;

int mal_host_start(struct mal_host *host, const char *directory, const char *file,
		   const double *values, struct mal_error *err)
{
	(void)directory;
	(void)file;
	(void)values;
	(void)err;
	*host = (struct mal_host){1, 1, &exchange};
	return 0;
}

void mal_host_end(struct mal_host *host)
{
	(void)host;
}
