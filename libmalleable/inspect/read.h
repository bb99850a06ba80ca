/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* read.h: reads an image from the bytes of a file. */
#ifndef MAL_INSPECT_READ_H
#define MAL_INSPECT_READ_H

#include "libmalleable/inspect/image.h"

/* Read SIZE BYTES, which must outlive IMAGE. On error nothing is kept. */
int mal_image_read(struct mal_image *image, const uint8_t *bytes, size_t size,
		   struct mal_error *err);

#endif
