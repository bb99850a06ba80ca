/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * site_report.c: the JSON that a controller leaves for report_dir=, in a memfd.
 *
 * Invariant: who reads it never waits (t/unit/test_core.c: site_reports_make_no_reader_wait).
 */
#include "libmalleable/core/site_report.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

int mal_site_report_make(struct mal_error *err)
{
	int fd = memfd_create("malleable-report", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && ftruncate(fd, MAL_SITE_REPORT_MAX) == 0 &&
	    fcntl(fd, F_ADD_SEALS, SEALS) == 0)
		return fd;
	mal_fail_errno(err, "cannot make room for the site's report");
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The kernel has memory alone sealed: never a file of a file system that does not answer. */
size_t mal_site_report_read(int fd, char *bytes)
{
	int seals = fcntl(fd, F_GET_SEALS);
	size_t used = 0;
	ssize_t got;

	if (seals < 0 || (seals & SEALS) != SEALS)
		return 0;
	while (used < MAL_SITE_REPORT_MAX &&
	       (got = pread(fd, bytes + used, MAL_SITE_REPORT_MAX - used, (off_t)used)) > 0)
		used += (size_t)got;
	return strnlen(bytes, used);
}
