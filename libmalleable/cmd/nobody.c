/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nobody.c: give up root before what users wrote is read. */
#include "libmalleable/cmd/nobody.h"

#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { NOBODY = 65534 };

int mal_become_nobody(void)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return -1;
	/* Other processes of nobody's may not look at what root opened (fs.suid_dumpable). */
	prctl(PR_SET_DUMPABLE, 0);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}
