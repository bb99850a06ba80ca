/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cmd.h: the subcommands of malleable. */
#ifndef MAL_CMD_CMD_H
#define MAL_CMD_CMD_H

/* malleable run [OPTIONS] -- COMMAND...: run a command balanced, without Slurm. Returns the exit status. */
int mal_cmd_run(int argc, char **argv);

/* malleable policies: list the policies with their parameters. */
int mal_cmd_policies(int argc, char **argv);

#endif
