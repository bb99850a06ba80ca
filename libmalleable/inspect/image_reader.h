/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* image_reader.h: reads an image from the bytes of a file, its parts one after the other. */
#ifndef MAL_INSPECT_IMAGE_READER_H
#define MAL_INSPECT_IMAGE_READER_H

#include <elf.h>

#include "libmalleable/inspect/image.h"

/* Read SIZE BYTES, which must outlive IMAGE. On error nothing is kept. */
int mal_image_read(struct mal_image *image, const uint8_t *bytes, size_t size,
		   struct mal_error *err);

struct mal_image_parts {
	uint64_t dynamic, dynamic_size, frames;
};

/* Relocations (slots.c), functions by .eh_frame (frames.c), names by .symtab (symbol_table.c). */
int mal_image_read_slots(struct mal_image *image, const struct mal_image_parts *parts,
			 struct mal_error *err);
int mal_image_read_functions(struct mal_image *image, const struct mal_image_parts *parts,
			     struct mal_error *err);
void mal_image_read_names(struct mal_image *image, const Elf64_Ehdr *header);

#endif
