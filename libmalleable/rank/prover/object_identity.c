/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* object_identity.c: what tells the code of one loaded object from any other. */
#include "libmalleable/rank/prover/object_identity.h"

#include <string.h>

/* Each eight bytes at once: all of a large program takes some milliseconds. */
uint64_t mal_identity_hash(uint64_t hash, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	for (; size; at += 8, size -= size < 8 ? size : 8) {
		uint64_t word = 0;

		memcpy(&word, at, size < 8 ? size : 8);
		hash = (hash ^ word ^ size << 32) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash;
}

/* Notes are names and contents behind a header each, all padded to four bytes. */
static void find_build_id(const uint8_t *notes, size_t size, struct mal_identity *identity)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)notes;
		size_t name = (note->n_namesz + 3ul) & ~3ul, whole = (note->n_descsz + 3ul) & ~3ul;
		size_t length = note->n_descsz;

		if (name > size || whole > size || sizeof(*note) + name + whole > size)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && length >= 8 &&
		    memcmp(notes + sizeof(*note), "GNU", 4) == 0) {
			identity->length =
				length < sizeof(identity->id) ? length : sizeof(identity->id);
			memcpy(identity->id, notes + sizeof(*note) + name, identity->length);
			return;
		}
		notes += sizeof(*note) + name + whole;
		size -= sizeof(*note) + name + whole;
	}
}

/* Whether a part of the file is in memory where a header puts it, as not all are. */
static bool is_loaded(const struct mal_object *object, const ElfW(Phdr) * part)
{
	for (unsigned int i = 0; i < object->header_count; i++) {
		const ElfW(Phdr) *header = &object->headers[i];

		if (header->p_type == PT_LOAD && part->p_vaddr >= header->p_vaddr &&
		    part->p_memsz <= header->p_filesz &&
		    part->p_vaddr - header->p_vaddr <= header->p_filesz - part->p_memsz)
			return header->p_flags & PF_R;
	}
	return false;
}

static bool is_constant(const ElfW(Phdr) * header)
{
	return header->p_type == PT_LOAD && (header->p_flags & (PF_R | PF_W)) == PF_R;
}

static void hash_content(const struct mal_object *object, struct mal_identity *identity)
{
	uint64_t hash = 0;

	for (unsigned int i = 0; i < object->header_count; i++) {
		const ElfW(Phdr) *header = &object->headers[i];

		if (is_constant(header))
			hash = mal_identity_hash(hash,
						 (const void *)(object->base + header->p_vaddr),
						 header->p_filesz);
	}
	identity->length = sizeof(hash);
	memcpy(identity->id, &hash, sizeof(hash));
}

void mal_identity_read(const struct mal_object *object, struct mal_identity *identity)
{
	*identity = (struct mal_identity){.text_begin = UINT64_MAX};
	for (unsigned int i = 0; i < object->header_count; i++) {
		const ElfW(Phdr) *header = &object->headers[i];

		if (header->p_type == PT_NOTE && !identity->length && is_loaded(object, header))
			find_build_id((const void *)(object->base + header->p_vaddr),
				      header->p_memsz, identity);
		if (header->p_type != PT_LOAD)
			continue;
		identity->segments = mal_identity_hash(identity->segments, header, sizeof(*header));
		if (!(header->p_flags & PF_X))
			continue;
		if (header->p_vaddr < identity->text_begin)
			identity->text_begin = header->p_vaddr;
		if (header->p_vaddr + header->p_memsz > identity->text_end)
			identity->text_end = header->p_vaddr + header->p_memsz;
	}
	if (!identity->length)
		hash_content(object, identity);
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
