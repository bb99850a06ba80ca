/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * handover.h: what became of a launcher's ranks, for the slurmstepd of the batch script that they
 * are in: it logs and stores that, as slurmstepds of steps do.
 *
 * A second pipe of root's beside the script's (script.h), to which the script's user alone may
 * write: the leader of a launcher group writes one message, which waits until the script has ended.
 * Root trusts nothing in them. It is no socket, as that carries descriptors: slurmstepd would close
 * them, and closing may take for ever (a connection that lingers, a file system of the user's).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libmalleable/base/error.h"
#include "libmalleable/base/pinned.h"
#include "libmalleable/core/outcome.h"
#include "libmalleable/core/script.h"

/* That wait at most. */
#define MAL_HANDOVERS 1024

struct mal_handover {
	char launcher[16]; /* its program */
	char policy[32];
	uint32_t ranks, cpus;
	struct mal_outcome_record record;
};

/* clang-format off */
MAL_PIN_SIZE(mal_handover, 112, "MAL_OUTCOME_VERSION")
MAL_PIN(mal_handover, launcher, 0, "MAL_OUTCOME_VERSION")
MAL_PIN(mal_handover, policy, 16, "MAL_OUTCOME_VERSION")
MAL_PIN(mal_handover, ranks, 48, "MAL_OUTCOME_VERSION")
MAL_PIN(mal_handover, cpus, 52, "MAL_OUTCOME_VERSION")
MAL_PIN(mal_handover, record, 56, "MAL_OUTCOME_VERSION")
/* clang-format on */

/*
 * As root: make the pipe beside the script's pipe PIPE, at PATH, which the caller unlinks. Returns
 * a descriptor, or -1 with ERR.
 */
int mal_handover_listen(const char *pipe, uid_t user, gid_t group, char path[MAL_SCRIPT_PATH],
			struct mal_error *err);

/* In a script's launcher group: hand over WHAT. Does not wait. */
void mal_handover_send(const struct mal_handover *what);

/*
 * The next one that came to LISTENING. Names are cut to letters, digits and the like. False: there
 * is none. Does not wait, and reads no more than *LEFT, which is counted down: the user may write
 * again and again.
 */
bool mal_handover_take(int listening, unsigned int *left, struct mal_handover *what);
