/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* object_identity.h: what tells the code of one loaded object from any other. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "libmalleable/rank/program/objects.h"

struct mal_identity {
	uint64_t content;  /* a hash of all that it cannot write: code, constants, names */
	uint64_t segments; /* a hash of where they are in the file */
	/* Its code, from the first address to the last, as in the file. */
	uint64_t text_begin, text_end;
};

/* Goes by what is in memory. */
void mal_identity_read(const struct mal_object *object, struct mal_identity *identity);

/* Whether what the file of BYTES has in its segments is what the object has in memory. */
bool mal_identity_is_of(const struct mal_object *object, const uint8_t *bytes, size_t size);

/* A hash of SIZE bytes, on from another one. */
uint64_t mal_identity_hash(uint64_t hash, const void *bytes, size_t size);
