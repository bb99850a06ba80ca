/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * admin.c: malleable admin: the off switch of this node, or of all nodes that share its file, and a
 * look at plugstack.conf.
 *
 * Invariant: only root's file is a switch (t/t1004-admin.t).
 */
#include "libmalleable/core/off_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmalleable/base/option_parser.h"
#include "libmalleable/cmd/check_plugstack.h"
#include "libmalleable/cmd/cmd.h"

static const char usage[] =
	"off|on|status [--file=F]\n"
	"       malleable admin check [PLUGSTACK.CONF]\n"
	"\n"
	"Switches balancing off and on again, for new steps and, within a second or two,\n"
	"for running ones: their ranks return to their own CPUs. It holds on this node\n"
	"until that is rebooted; on all nodes if plugstack.conf has off_file=F with F in\n"
	"a directory that they share.\n"
	"\n"
	"check reads plugstack.conf as Slurm does and prints what is wrong with our\n"
	"plugin's line; its exit status is 1 then. Without a file it reads the one beside\n"
	"$SLURM_CONF, or /etc/slurm/plugstack.conf.\n"
	"\n"
	"  --file=F   the switch, if not off_file= or " MAL_OFF_FILE "\n"
	"  --help, --version\n"
	"\n"
	"status prints off or on; its exit status is 0 if balancing is on, 3 if it is\n"
	"off.\n";

static const struct mal_tool tool = {.name = "malleable admin", .usage = usage};

static int fail(const char *file, const char *what)
{
	fprintf(stderr, "malleable admin: cannot %s %s: %s\n", what, file, strerror(errno));
	return 1;
}

static int switch_off(const char *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (fd < 0)
		return fail(file, "create");
	close(fd);
	if (mal_admin_is_off(file))
		return 0;
	fprintf(stderr, "malleable admin: %s has no effect: root does not own it\n", file);
	return 1;
}

static int switch_on(const char *file)
{
	return unlink(file) < 0 && errno != ENOENT ? fail(file, "remove") : 0;
}

static int tell(const char *file)
{
	bool off = mal_admin_is_off(file);

	puts(off ? "off" : "on");
	return off ? 3 : 0;
}

int mal_cmd_admin(int argc, char **argv)
{
	static const struct option options[] = {
		{"file", required_argument, NULL, 'f'},
		MAL_OPTIONS_END,
	};
	char path[MAL_OFF_PATH];
	const char *file = mal_admin_read_link(path, sizeof(path)) ? path : MAL_OFF_FILE, *what;

	while (mal_option(&tool, argc, argv, false, options) != MAL_OPTION_END)
		file = optarg;
	what = optind < argc ? argv[optind++] : "";
	if (strcmp(what, "check") == 0 && argc - optind <= 1)
		return mal_check_plugstack(argv[optind]);
	if (optind < argc)
		what = "";
	if (strcmp(what, "status") == 0)
		return tell(file);
	if (strcmp(what, "off") != 0 && strcmp(what, "on") != 0)
		mal_option_wrong(&tool, "give off, on, status or check");
	if (geteuid() != 0) {
		fputs("malleable admin: only root switches balancing off and on\n", stderr);
		return 1;
	}
	return strcmp(what, "off") == 0 ? switch_off(file) : switch_on(file);
}
