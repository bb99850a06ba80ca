/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* check_srun.c: malleable admin check: whether srun on this node loads the plugin. */
#include "libmalleable/cmd/check_srun.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/base/printable.h"

/* The exit status of a shell that finds no command, and of timeout. */
#define NO_COMMAND 127

int mal_check_srun(const char *conf, struct mal_error *err)
{
	char line[512], why[256] = "srun --help does not list it";
	bool found = false, told = false;
	FILE *stream;
	int status;

	/* Its usage has the options of plugins. It asks no daemon, unless one has its files. */
	snprintf(line, sizeof(line), "%s%s timeout 20 srun --help 2>&1", conf ? "SLURM_CONF=" : "",
		 conf ? conf : "");
	stream = popen(line, "re");
	if (!stream)
		return 0;
	while (fgets(line, sizeof(line), stream)) {
		const char *error = strstr(line, "error: ");

		found |= strstr(line, " --balance") != NULL;
		line[strcspn(line, "\n")] = '\0';
		if (error && !told)
			snprintf(why, sizeof(why), "%.255s", error + strlen("error: "));
		told |= error != NULL;
	}
	status = pclose(stream);
	if (found || (WIFEXITED(status) && WEXITSTATUS(status) == NO_COMMAND))
		return 0;
	mal_make_printable(why, strlen(why), false);
	return mal_fail(err, "srun does not load it: %s", why);
}

static bool write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	bool written = file && fputs(text, file) >= 0;

	return file && fclose(file) == 0 && written;
}

int mal_check_srun_name(const char *name, struct mal_error *err)
{
	const char *conf = getenv("SLURM_CONF") ?: "/etc/slurm/slurm.conf";
	char directory[] = "/tmp/malleable-check.XXXXXX", plugstack[64], slurm[64];
	char line[PATH_MAX], lines[PATH_MAX + 128];
	int result = 0;

	if (!mkdtemp(directory))
		return mal_fail_errno(err, "cannot ask srun: %s", directory);
	snprintf(plugstack, sizeof(plugstack), "%s/plugstack.conf", directory);
	snprintf(slurm, sizeof(slurm), "%s/slurm.conf", directory);
	/* What the site has, where it has anything, but for what else it loads. */
	snprintf(line, sizeof(line), "Include %s\n", conf);
	snprintf(lines, sizeof(lines), "%sPlugStackConfig=%s\n",
		 access(conf, R_OK) == 0 ? line : "ClusterName=none\nSlurmctldHost=localhost\n",
		 plugstack);
	snprintf(line, sizeof(line), "optional %s\n", name);
	if (!write_file(plugstack, line) || !write_file(slurm, lines))
		result = mal_fail_errno(err, "cannot ask srun: %s", directory);
	if (result == 0)
		result = mal_check_srun(slurm, err);
	unlink(plugstack);
	unlink(slurm);
	rmdir(directory);
	return result;
}
