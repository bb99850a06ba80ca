/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * step_word.h: which step, and which of its ranks, a user's word means.
 *
 * Invariant: a whole name goes before one without its PID (t/t3004-control.t).
 */
#pragma once

#include <stdbool.h>

/* Whether the step of this SOCKET is called NAME.PID: root made none for it. Thread safe. */
bool mal_step_has_pid(const char *socket);

/*
 * The rank that WORD names, if it means the step NAME of this SOCKET: empty, none; NULL: it means
 * another step. *WHOLE: it has the whole name, which steps whose PID it leaves out give way to.
 * Thread safe.
 */
const char *mal_step_word(const char *word, const char *name, const char *socket, bool *whole);
