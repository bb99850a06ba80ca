/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * requests.h: requests of non-blocking collective calls. Their completion is a boundary, as the
 * return of a blocking one is.
 *
 * Each thread tracks the first 16 requests that it has open. All functions concern the calling
 * thread's requests.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One bit for each open request of this thread: while there is none nothing here costs time. */
extern __thread uint32_t mal_mpi_open_requests
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * REQUEST, a handle of SIZE bytes, belongs to a collective call of all ranks. A PERSISTENT one
 * starts anew each time.
 */
void mal_mpi_began(const void *request, size_t size, bool persistent);

/* The slow paths of the functions below. */
uint32_t mal_mpi_find_requests(const void *requests, size_t count, size_t size);
void mal_mpi_start_requests(const void *requests, size_t count, size_t size);
void mal_mpi_forget_requests(uint32_t asked);
bool mal_mpi_have_come(uint32_t asked, size_t size, bool all);

/*
 * Before a call that waits for or tests COUNT REQUESTS of SIZE bytes: which of them are tracked, as
 * bits.
 */
static inline uint32_t mal_mpi_asks(const void *requests, size_t count, size_t size)
{
	return mal_mpi_open_requests ? mal_mpi_find_requests(requests, count, size) : 0;
}

/*
 * After it: whether any of these completed. ALL: the call says that all did, which is the only sign
 * for persistent ones.
 */
static inline bool mal_mpi_came(uint32_t asked, size_t size, bool all)
{
	return asked && mal_mpi_have_come(asked, size, all);
}

static inline void mal_mpi_started(const void *requests, size_t count, size_t size)
{
	if (mal_mpi_open_requests)
		mal_mpi_start_requests(requests, count, size);
}
