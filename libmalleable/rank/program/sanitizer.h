/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sanitizer.h: programs built with -fsanitize=address, thread or the like, whose runtime must be
 * loaded first.
 */
#pragma once

#include <stdbool.h>

/*
 * If the program has such a runtime and we were preloaded, print one line and execute the program
 * again without us, without the line where the step has ended. Must run before any other
 * constructor: the runtime's own would end the program. Returns whether the program has such a
 * runtime: then libc's functions wait until it has started.
 */
bool mal_sanitizer_step_aside(char **argv, char **variables);
