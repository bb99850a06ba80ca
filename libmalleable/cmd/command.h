/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* command.h: run a user's command and wait for it. */
#pragma once

/*
 * Run ARGV, pass signals on, and wait for it. SEGMENT_FD: of the controller that is to count it,
 * -1: none. Returns its exit status (128 + the signal's number, 126, 127 as a shell), or OTHERWISE
 * if there can be no process for it. TOOL is the name before a message.
 */
int mal_command_run(const char *tool, char **argv, int segment_fd, int otherwise);
