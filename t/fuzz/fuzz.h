/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz.h: shared by the targets. A target is a file NAME.c with LLVMFuzzerTestOneInput; its seeds
 * are seeds/NAME.*.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The rest of the input. */
extern const uint8_t *fuzz_input;
extern size_t fuzz_left;

void fuzz_begin(const uint8_t *data, size_t size);

/*
 * Copy SIZE bytes of the input to TO, with zeros after its end. Returns the number of bytes it had.
 */
size_t fuzz_take(void *to, size_t size);

unsigned int fuzz_byte(void);

/* The rest of the input, or its next line, as text that the caller frees. */
char *fuzz_text(void);
char *fuzz_line(void);
