/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ucx.c: see the polls of MPI libraries over UCX, which do not yield between them. MPICH's device
 * ch4:ucx, as on Debian, calls ucp_worker_progress() in each turn of a waiting loop (measured:
 * MPICH 4.0.2).
 *
 * Invariant: waits of MPICH over UCX are lent (t/t2007-calls.t).
 */
#include <dlfcn.h>
#include <stddef.h>

#include "libmalleable/base/shown.h"
#include "libmalleable/rank/wait.h"

unsigned int ucp_worker_progress(void *worker) MAL_SHOWN("ucp_worker_progress");
MAL_SHOWN_AS("ucp_worker_progress", "MALLEABLE");

unsigned int ucp_worker_progress(void *worker)
{
	static unsigned int (*next)(void *);

	if (!next) {
		void *object = dlsym(RTLD_NEXT, "ucp_worker_progress");
		void *library = object ? NULL : dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);

		/* It belongs to an MPI library that was loaded privately. */
		if (library)
			object = dlsym(library, "ucp_worker_progress");
		*(void **)&next = object;
		if (!next)
			return 0;
	}
	mal_mpi_poll();
	return next(worker);
}
