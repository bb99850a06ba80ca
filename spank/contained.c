/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * contained.c: keep descriptors of callbacks that Slurm runs in a child of slurmstepd.
 *
 * Invariant: a descriptor opened in such a child lives as long as the step
 * (t/unit/test_contained.c: descriptors_stay_until_the_step_ends).
 */
#include "spank/contained.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libmalleable/base/descriptor.h"

static int ends[2] = {-1, -1}; /* one to leave descriptors, one to take them */
static pid_t slurmstepd;

void balance_contained_prepare(void)
{
	slurmstepd = getpid();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		ends[0] = ends[1] = -1;
}

static void close_socket(void)
{
	for (int i = 0; i < 2; i++) {
		if (ends[i] >= 0)
			close(ends[i]);
		ends[i] = -1;
	}
}

pid_t balance_contained_slurmstepd(void)
{
	return slurmstepd ? slurmstepd : getpid();
}

static bool is_child(void)
{
	return balance_contained_slurmstepd() != getpid();
}

void balance_contained_begin(void)
{
	if (!is_child())
		close_socket();
}

int balance_contained_leave(int *fds, size_t count, struct mal_error *err)
{
	char places[MAL_DESCRIPTORS_MAX] = {0};
	int open[MAL_DESCRIPTORS_MAX];
	size_t used = 0;

	for (size_t i = 0; i < count && i < MAL_DESCRIPTORS_MAX; i++)
		if (fds[i] >= 0) {
			places[i] = 1;
			open[used++] = fds[i];
		}
	if (!used || !is_child())
		return 0;
	if (mal_descriptors_send(ends[0], open, used, places, sizeof(places)) < 0)
		return mal_fail_errno(err, "contain_spank: cannot keep descriptors");
	/* Our memory is slurmstepd's, where these numbers may be those of other files. */
	for (size_t i = 0; i < count && i < MAL_DESCRIPTORS_MAX; i++)
		if (places[i]) {
			close(fds[i]);
			fds[i] = -1;
		}
	return 0;
}

void balance_contained_take(int *fds, size_t count, bool copy)
{
	char places[MAL_DESCRIPTORS_MAX] = {0};
	size_t used = 0, got = MAL_DESCRIPTORS_MAX;
	int open[MAL_DESCRIPTORS_MAX];

	if (mal_descriptors_receive(ends[1], open, &got, places, sizeof(places),
				    copy ? MSG_PEEK : 0) > 0)
		for (size_t i = 0; i < count && i < MAL_DESCRIPTORS_MAX; i++)
			if (places[i] && used < got)
				fds[i] = open[used++];
	if (copy)
		close_socket();
}
