/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* check_plugstack.h: malleable admin check: what plugstack.conf says to the plugin. */
#pragma once

/* Where Slurm looks for FILE, or without one: its plugstack.conf. Returns the exit status. */
int mal_check_plugstack(const char *file);
