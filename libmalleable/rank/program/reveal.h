/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reveal.h: let dlsym() find our functions of OpenMP. */
#pragma once

/*
 * The process has a runtime, so a program that looks for functions by name finds ours, which answer
 * as it would without us (base/shown.h). Idempotent.
 */
void mal_reveal(void);
