/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spank.h: Slurm's functions, which print nothing, for targets of the plugin's files. */
#pragma once

#include "spank/plugin.h"

/* The context that spank_context() returns. */
extern enum spank_context fuzz_context;
