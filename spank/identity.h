/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* identity.h: files, cgroups and the agent know root; some callbacks run with the user's effective id. */
#ifndef MAL_SPANK_IDENTITY_H
#define MAL_SPANK_IDENTITY_H

#include <sys/types.h>

/* Take on root's effective id. Returns the one before, for balance_become(). What fails is reported. */
uid_t balance_become_root(void);

/* Go back to UID, from root. */
void balance_become(uid_t uid);

#endif
