/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rendezvous.h: the socket at which the ranks of one launcher meet.
 *
 * It is in the launcher's own directory (PMIX_SERVER_TMPDIR), which is the user's alone: else ranks
 * do not meet. So no stranger can take its name, connect to it, or make a rank wait
 * (t/t4612-strangers.t).
 */
#pragma once

#include "libmalleable/base/error.h"

struct mal_rendezvous {
	int directory; /* the launcher's, open */
	char name[72]; /* the socket's in it, of the ranks that the launcher starts at once */
};

/* Find it by the environment of a rank. Returns 0, or -1 with ERR. */
int mal_rendezvous_find(struct mal_rendezvous *rendezvous, struct mal_error *err);

/*
 * Connect until DEADLINE, a time of mal_now_ms(). Returns a connection; or -1 with *LISTENING: the
 * caller is the first and has others served there; or -1 with ERR and *LISTENING -1.
 */
int mal_rendezvous_connect(const struct mal_rendezvous *rendezvous, long deadline, int *listening,
			   struct mal_error *err);

/* Nobody is served at LISTENING any more: close it and remove its name. */
void mal_rendezvous_end(const struct mal_rendezvous *rendezvous, int listening);
