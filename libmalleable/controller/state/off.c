/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* off.c: the state of the administrator's off switch. */
#include "libmalleable/controller/state/off.h"

#include <stdlib.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/core/admin.h"

#define LOOK_S 1.0

struct mal_off {
	const char *file; /* NULL: none */
	bool is, was;	  /* now, and at any time */
	uint64_t looked;
};

struct mal_off *mal_off_create(const char *file)
{
	struct mal_off *off = calloc(1, sizeof(*off));

	if (off)
		off->file = file;
	return off;
}

void mal_off_destroy(struct mal_off *off)
{
	free(off);
}

bool mal_off_look(struct mal_controller *controller)
{
	struct mal_off *off = controller->off;
	uint64_t now = mal_ticks();
	bool is;

	if (!off->file || (off->looked && mal_ticks_to_s(now - off->looked) < LOOK_S))
		return false;
	off->looked = now;
	is = mal_admin_is_off(off->file);
	if (is == off->is)
		return false;
	off->is = is;
	off->was = true;
	return true;
}

bool mal_off_is(const struct mal_controller *controller)
{
	return controller->off->is;
}

bool mal_off_was(const struct mal_controller *controller)
{
	return controller->off->was;
}
