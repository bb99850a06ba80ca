/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * image.h: an x86_64 executable or shared library, read from the bytes of its file. These are a
 * user's: every offset in them is checked, and what does not fit is left out or fails.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmalleable/base/error.h"

enum {
	MAL_IMAGE_SEGMENTS = 32,
	MAL_IMAGE_FUNCTIONS = 1 << 19,
	MAL_IMAGE_SLOTS = 1 << 20,
	MAL_IMAGE_BYTES = 1 << 28,
};

struct mal_image_segment {
	uint64_t address, size, offset, stored;
	bool executable, writable;
};

/* What the dynamic linker puts into a word of memory. */
enum mal_slot_kind { MAL_SLOT_ADDRESS, MAL_SLOT_SYMBOL, MAL_SLOT_RESOLVER, MAL_SLOT_TLS };

struct mal_external;

struct mal_slot {
	uint64_t address, value;
	const char *symbol;
	enum mal_slot_kind kind;
	/* A table of the linker's for calls, no datum of the program. */
	bool linkage;
	/* The symbol may be a function. */
	bool function;
	/* What is known of it, once that was looked up. */
	const struct mal_external *external;
};

struct mal_function {
	uint64_t start, end;
	const char *name;
	/* The table of what exceptions run, or 0. */
	uint64_t handlers;
};

struct mal_image {
	const uint8_t *bytes;
	size_t size;
	struct mal_image_segment segments[MAL_IMAGE_SEGMENTS];
	size_t segment_count;
	struct mal_slot *slots;
	size_t slot_count;
	struct mal_function *functions;
	size_t function_count;
	/* Loaded where the linker put it: code holds addresses of functions as numbers. */
	bool fixed;
	bool dynamic;
	uint64_t entry;
	/* Arrays of functions that run at start and at the end. */
	uint64_t arrays[3], array_sizes[3];
	bool other_machine;
};

/* Read SIZE BYTES, which must outlive IMAGE. On error nothing is kept. */
int mal_image_read(struct mal_image *image, const uint8_t *bytes, size_t size,
		   struct mal_error *err);
void mal_image_free(struct mal_image *image);

/* The bytes at ADDRESS, and how many are stored from there on in *LEFT; NULL where none are. */
const uint8_t *mal_image_at(const struct mal_image *image, uint64_t address, uint64_t *left);

/* Whether all SIZE bytes at ADDRESS are stored; they are copied to TO. */
bool mal_image_copy(const struct mal_image *image, uint64_t address, void *to, size_t size);
bool mal_image_executable(const struct mal_image *image, uint64_t address);

/* Whether a program cannot write to ADDRESS (what is made read-only later counts as written). */
bool mal_image_constant(const struct mal_image *image, uint64_t address);

/* The slot at ADDRESS, or NULL. */
const struct mal_slot *mal_image_slot(const struct mal_image *image, uint64_t address);

/* The slot that a stub at ADDRESS jumps through, or NULL where none is. */
const struct mal_slot *mal_image_stub(const struct mal_image *image, uint64_t address);

/* The function that ADDRESS is in, or NULL. */
const struct mal_function *mal_image_function(const struct mal_image *image, uint64_t address);

/* Its name, NULL where that is not known. */
const char *mal_image_name(const struct mal_image *image, uint64_t address);

/*
 * Bytes that are read one after the other, as tables of frames are. FAILED once something was not
 * stored, or was no number; what is read then means nothing.
 */
struct mal_cursor {
	const struct mal_image *image;
	uint64_t at;
	bool failed;
};

uint8_t mal_cursor_byte(struct mal_cursor *cursor);
uint32_t mal_cursor_word(struct mal_cursor *cursor);

/* A number in LEB128, without sign (DWARF 5, sect. 7.6). */
uint64_t mal_cursor_leb(struct mal_cursor *cursor);
