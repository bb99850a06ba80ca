/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* offer.c: malleable offer: lend the CPUs of the calling rank while a command runs. */
#include <dlfcn.h>

#include "libmalleable/base/option_parser.h"
#include "libmalleable/cmd/cmd.h"
#include "libmalleable/cmd/command.h"
#include "libmalleable/malleable.h"

static const char usage[] =
	"[--] COMMAND...\n"
	"\n"
	"Runs a command that needs no CPU to speak of, such as the copy of a file, and\n"
	"lends the CPUs of the rank in which it runs to the other ranks meanwhile:\n"
	"\n"
	"  srun --balance sh -c 'malleable offer -- cp input /tmp && ./app'\n"
	"\n"
	"Outside a balanced step it runs the command alone.\n"
	"\n"
	"  --help, --version\n"
	"\n"
	"The exit status is that of COMMAND; 2: wrong arguments; 126, 127: COMMAND could\n"
	"not be run.\n";

static const struct mal_tool tool = {.name = "malleable offer", .usage = usage};

int mal_cmd_offer(int argc, char **argv)
{
	/* Of the library that is preloaded in a balanced step, and nowhere else. */
	int (*begin)(int how) = (int (*)(int))dlsym(RTLD_DEFAULT, "malleable_waiting_begin");
	int (*end)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "malleable_waiting_end");
	int status;

	mal_option(&tool, argc, argv, true, NULL);
	if (optind == argc)
		mal_option_wrong(&tool, "give a command");
	if (begin && end)
		begin(MALLEABLE_WAIT_BLOCKS);
	status = mal_command_run(tool.name, argv + optind, -1, 126);
	if (begin && end)
		end();
	return status;
}
