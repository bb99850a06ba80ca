/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * effective_id.h: take on root's effective id for a while: some callbacks run with the user's, and
 * files, cgroups and the agent need root's.
 */
#ifndef MAL_SPANK_EFFECTIVE_ID_H
#define MAL_SPANK_EFFECTIVE_ID_H

#include <sys/types.h>

#include "libmalleable/base/error.h"

/*
 * Take on root's effective id, and store the former one in *BEFORE, for balance_become(). Returns
 * 0, or -1 with ERR.
 */
int balance_become_root(uid_t *before, struct mal_error *err);

/*
 * Return from root to UID. Returns 0, or -1 with ERR; then the caller must do nothing more for the
 * user.
 */
int balance_become(uid_t uid, struct mal_error *err);

#endif
