/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * object_identity.c: what tells the code of one loaded object from any other.
 *
 * Invariant: no name decides, as a build-id that two programs may share (t/unit/test_verdicts.c:
 * code_tells_programs_apart; t/t2013-proofs.t).
 */
#include "libmalleable/prover/rank/object_identity.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t word_at(const uint8_t *at, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, at, size);
	return word;
}

/* Four words at once, none of which waits for another: a large program takes milliseconds. */
uint64_t mal_identity_hash(uint64_t hash, const void *bytes, size_t size)
{
	uint64_t a = mix(hash, size), b = 1, c = 2, d = 3;
	const uint8_t *at = bytes;

	for (; size >= 32; at += 32, size -= 32) {
		a = mix(a, word_at(at, 8));
		b = mix(b, word_at(at + 8, 8));
		c = mix(c, word_at(at + 16, 8));
		d = mix(d, word_at(at + 24, 8));
	}
	a = mix(mix(a, b), mix(c, d));
	for (; size >= 8; at += 8, size -= 8)
		a = mix(a, word_at(at, 8));
	return mix(a, word_at(at, size));
}

static bool is_constant(const ElfW(Phdr) * header)
{
	return header->p_type == PT_LOAD && (header->p_flags & (PF_R | PF_W)) == PF_R;
}

void mal_identity_read(const struct mal_object *object, struct mal_identity *identity)
{
	*identity = (struct mal_identity){.text_begin = UINT64_MAX};
	for (unsigned int i = 0; i < object->header_count; i++) {
		const ElfW(Phdr) *header = &object->headers[i];

		if (header->p_type != PT_LOAD)
			continue;
		if (is_constant(header))
			identity->content = mal_identity_hash(
				identity->content, (const void *)(object->base + header->p_vaddr),
				header->p_filesz);
		identity->segments = mal_identity_hash(identity->segments, header, sizeof(*header));
		if (!(header->p_flags & PF_X))
			continue;
		if (header->p_vaddr < identity->text_begin)
			identity->text_begin = header->p_vaddr;
		if (header->p_vaddr + header->p_memsz > identity->text_end)
			identity->text_end = header->p_vaddr + header->p_memsz;
	}
}

bool mal_identity_is_of(const struct mal_object *object, const uint8_t *bytes, size_t size)
{
	for (unsigned int i = 0; i < object->header_count; i++) {
		const ElfW(Phdr) *header = &object->headers[i];

		if (header->p_type == PT_LOAD && (header->p_flags & (PF_W | PF_X)) == (PF_W | PF_X))
			return false;
		if (is_constant(header) &&
		    (header->p_offset > size || header->p_filesz > size - header->p_offset ||
		     memcmp(bytes + header->p_offset,
			    (const void *)(object->base + header->p_vaddr), header->p_filesz) != 0))
			return false;
	}
	return true;
}
