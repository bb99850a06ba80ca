/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cpu_claim.c: the pipe of the job's script has a byte for each CPU, which is locked. */
#include "libmalleable/cmd/cpu_claim.h"

#include <fcntl.h>
#include <unistd.h>

#include "libmalleable/core/script.h"

/* Lock a byte that nothing is ever read from. Does not wait. Returns 0 or -1. */
static int lock(int fd, unsigned int cpu)
{
	struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = cpu, .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &range);
}

int mal_cpu_claim(const struct mal_cpumask *cpus, struct mal_error *err)
{
	int fd = mal_script_open();

	if (fd < 0)
		return mal_fail_errno(
			err, "cannot open the pipe of the job's script in " MAL_SCRIPT_DIR);
	for (unsigned int cpu = 0; (cpu = mal_cpumask_next(cpus, cpu)) < MAL_MAX_CPUS; cpu++)
		if (lock(fd, cpu) < 0) {
			close(fd);
			return mal_fail(err,
					"ranks of another launcher have CPU %u: give each "
					"launcher CPUs of its own, as by mpirun --cpu-set 0-3",
					cpu);
		}
	return fd;
}
