/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cmd.h: the subcommands of malleable. Each takes its own arguments and returns the exit status. */
#pragma once

/* malleable run [OPTIONS] -- COMMAND...: run a command balanced, without Slurm. */
int mal_cmd_run(int argc, char **argv);

/* malleable replay [OPTIONS] TRACE: predict how other policies run a recorded step. */
int mal_cmd_replay(int argc, char **argv);

/* malleable status [OPTIONS] [JOB[.STEP]]: show balanced steps and what they gain. */
int mal_cmd_status(int argc, char **argv);

/* malleable set STEP OPTION...: change a running step's CPUs and policy. */
int mal_cmd_set(int argc, char **argv);

/* malleable offer [--] COMMAND...: lend the CPUs of the calling rank while a command runs. */
int mal_cmd_offer(int argc, char **argv);

/* malleable events [--json] STEP: print what happens in a step until it ends. */
int mal_cmd_events(int argc, char **argv);

/* malleable admin off|on|status: the off switch of this node. */
int mal_cmd_admin(int argc, char **argv);

/* malleable top [OPTIONS] [STEP]: the same with bars, again and again. */
int mal_cmd_top(int argc, char **argv);

/* malleable policies: list the policies with their parameters. */
int mal_cmd_policies(int argc, char **argv);

/* malleable inspect [--json] FILE...: which parallel regions depend on the size of their team. */
int mal_cmd_inspect(int argc, char **argv);
