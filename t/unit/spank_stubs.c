/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spank_stubs.c: Slurm's functions as they are where there is nothing to tell. Whatever a test
 * defines replaces its own.
 */
#include "spank/plugin.h"

__attribute__((weak)) spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	(void)spank;
	(void)item;
	return ESPANK_NOT_AVAIL;
}

__attribute__((weak)) spank_err_t spank_getenv(spank_t spank, const char *name, char *value,
					       int size)
{
	(void)spank;
	(void)name;
	(void)value;
	(void)size;
	return ESPANK_ENV_NOEXIST;
}
