/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * requests.c: open requests of collective calls, by handle.
 *
 * Invariant: a collective call that does not wait is a boundary where it is completed
 * (t/t2010-compatibility.t).
 */
#include "libmalleable/rank/mpi/requests.h"

#include <string.h>

#define MAX 16

__thread uint32_t mal_mpi_open_requests;
static __thread struct {
	uint64_t handle;
	const char *place; /* where the program keeps it, going by the last call */
	bool persistent;
	bool started;
} open_requests[MAX] __attribute__((tls_model("initial-exec")));

static uint64_t handle_at(const void *place, size_t size)
{
	uint64_t handle = 0;

	memcpy(&handle, place, size);
	return handle;
}

static int find(uint64_t handle)
{
	for (int i = 0; i < MAX; i++)
		if (mal_mpi_open_requests & 1u << i && open_requests[i].handle == handle)
			return i;
	return -1;
}

/* May be called twice for a request, by a Fortran binding and by the C one that it calls. */
void mal_mpi_began(const void *request, size_t size, bool persistent)
{
	uint64_t handle = handle_at(request, size);
	int i = find(handle);

	for (int at = 0; i < 0 && at < MAX; at++)
		if (!(mal_mpi_open_requests & 1u << at))
			i = at;
	if (i < 0)
		return;
	mal_mpi_open_requests |= 1u << i;
	open_requests[i].handle = handle;
	open_requests[i].persistent = persistent;
	open_requests[i].started = !persistent;
}

uint32_t mal_mpi_find_requests(const void *requests, size_t count, size_t size)
{
	uint32_t asked = 0;

	for (size_t n = 0; requests && n < count; n++) {
		const char *place = (const char *)requests + n * size;
		int i = find(handle_at(place, size));

		if (i < 0)
			continue;
		open_requests[i].place = place;
		asked |= 1u << i;
	}
	return asked;
}

void mal_mpi_start_requests(const void *requests, size_t count, size_t size)
{
	uint32_t asked = mal_mpi_find_requests(requests, count, size);

	for (int i = 0; i < MAX; i++)
		if (asked & 1u << i)
			open_requests[i].started = true;
}

void mal_mpi_forget_requests(uint32_t asked)
{
	mal_mpi_open_requests &= ~asked;
}

/*
 * A completed request is a null handle; a persistent one keeps its handle. One that is gone was
 * seen by a binding nested in this one.
 */
bool mal_mpi_have_come(uint32_t asked, size_t size, bool all)
{
	bool any = false;

	for (int i = 0; i < MAX; i++) {
		if (!(asked & 1u << i))
			continue;
		if (!(mal_mpi_open_requests & 1u << i)) {
			any = true;
		} else if (open_requests[i].persistent) {
			any |= all && open_requests[i].started;
			open_requests[i].started &= !all;
		} else if (handle_at(open_requests[i].place, size) != open_requests[i].handle) {
			any = true;
			mal_mpi_forget_requests(1u << i);
		}
	}
	return any;
}
