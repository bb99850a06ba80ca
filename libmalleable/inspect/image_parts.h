/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* image_parts.h: the parts of an image that are read one after the other. */
#ifndef MAL_INSPECT_IMAGE_PARTS_H
#define MAL_INSPECT_IMAGE_PARTS_H

#include <elf.h>

#include "libmalleable/inspect/image.h"

struct mal_image_parts {
	uint64_t dynamic, dynamic_size, frames;
};

/* Relocations (slots.c), functions by .eh_frame (frames.c), names by .symtab (symbols.c). */
int mal_image_read_slots(struct mal_image *image, const struct mal_image_parts *parts,
			 struct mal_error *err);
int mal_image_read_functions(struct mal_image *image, const struct mal_image_parts *parts,
			     struct mal_error *err);
void mal_image_read_names(struct mal_image *image, const Elf64_Ehdr *header);

#endif
