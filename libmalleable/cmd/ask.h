/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ask.h: ask the controllers of steps, by malleable_control.h. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/*
 * Whether the step NAME matches WANTED: JOB, JOB.STEP, or NAME.PID with or without PID. NULL
 * matches all.
 */
bool mal_ask_matches(const char *name, const char *wanted);

/*
 * The status of the step whose controller has SOCKET, for the caller to release; NULL with *RESULT,
 * an enum malleable_control_error.
 */
json_t *mal_ask_status(const char *socket, int *result);
