/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* check_libraries.h: malleable admin check: whether this node has the libraries that steps need. */
#pragma once

/* Print a line for each that the programs in LIBDIR, or ranks, do not find. Returns how many. */
unsigned int mal_check_libraries(const char *libdir);
