/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* silence.h: a machine on which nothing ever comes, and waiting turns the clock. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct silence {
	uint64_t ns;   /* the time of all clocks */
	bool connects; /* connect(2) succeeds */
};

extern struct silence silence;

struct silence_wait {
	const char *name;
	void (*wait)(void);
	unsigned int ms;
};

/* Those of a part that a build may lack. */
extern const struct silence_wait silence_waits_of_prover[] __attribute__((weak));
