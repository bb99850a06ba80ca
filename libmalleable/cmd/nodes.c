/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nodes.c: run malleable on all nodes of a job, through srun.
 *
 * Invariant: what is asked of a job is asked of each of its nodes (t/t3004-control.t).
 */
#include "libmalleable/cmd/nodes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 24
/* What our child exits with where there is no srun. */
#define NO_SRUN 127

/* What came over standard error. */
struct heard {
	char last[256];	 /* the line before, of a program on a node */
	char srun[256];	 /* the last reason that srun gave */
	bool from_nodes; /* a program on a node said something */
};

static void start(const char *job, const char *const *arguments, int to)
{
	char self[4096], number[48];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *words[WORDS_MAX] = {"srun", "--overlap", "--quiet", "--mpi=none", "--mem=0"};
	int count = 5;

	self[length > 0 ? length : 0] = '\0';
	snprintf(number, sizeof(number), "--jobid=%s", job);
	words[count++] = number;
	words[count++] = length > 0 ? self : "malleable";
	while (*arguments && count < WORDS_MAX - 1)
		words[count++] = *arguments++;
	dup2(to, STDERR_FILENO);
	/* The step that looks at others must not be balanced itself. */
	setenv("SLURM_BALANCE", "off", 1);
	execvp("srun", (char *const *)words);
	_exit(NO_SRUN);
}

/* Say a line of a program on a node, unless the last said the same; keep srun's reason. */
static void hear(struct heard *heard, char *line)
{
	static const char *const reasons[] = {"srun: error: ", "srun: fatal: "};

	line[strcspn(line, "\n")] = '\0';
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strncmp(line, reasons[i], strlen(reasons[i])) == 0)
			snprintf(heard->srun, sizeof(heard->srun), "%s", line + strlen("srun: "));
	if (strncmp(line, "srun: ", strlen("srun: ")) == 0)
		return;
	heard->from_nodes = true;
	if (strncmp(heard->last, line, sizeof(heard->last) - 1) != 0)
		fprintf(stderr, "%s\n", line);
	snprintf(heard->last, sizeof(heard->last), "%s", line);
}

int mal_nodes_run(const char *job, const char *const *arguments, struct mal_error *err)
{
	struct heard heard = {.from_nodes = false};
	size_t size = 0;
	char *line = NULL;
	int ends[2], status = 0;
	pid_t child;
	FILE *in;

	fflush(NULL);
	if (pipe(ends) < 0)
		return mal_fail_errno(err, "cannot start srun");
	child = fork();
	if (child == 0) {
		close(ends[0]);
		start(job, arguments, ends[1]);
	}
	close(ends[1]);
	in = child > 0 ? fdopen(ends[0], "r") : NULL;
	while (in && getline(&line, &size, in) >= 0)
		hear(&heard, line);
	free(line);
	if (!in)
		close(ends[0]);
	else
		fclose(in);
	if (child < 0)
		return mal_fail_errno(err, "cannot start srun");
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SRUN)
		return -2;
	if (status && !heard.from_nodes)
		return mal_fail(err, "job %s: %s", job,
				heard.srun[0] ? heard.srun : "a signal ended srun");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
