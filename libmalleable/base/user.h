/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* user.h: the user that processes without rights run as. */
#pragma once

#include <pwd.h>

/* Accounts of people have larger numbers: one of them may be called as ours is. */
#define MAL_SYSTEM_UID_MAX 999

/* The system's user malleable where there is one, else nobody. NULL: there is neither. */
static inline const struct passwd *mal_user_find(void)
{
	const struct passwd *user = getpwnam("malleable");

	if (user && user->pw_uid > 0 && user->pw_uid <= MAL_SYSTEM_UID_MAX)
		return user;
	return getpwnam("nobody");
}
