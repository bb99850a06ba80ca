/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slots.c: what the dynamic linker writes into memory, by the relocations. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/find.h"
#include "libmalleable/inspect/image_reader.h"

struct tables {
	uint64_t symbols, strings, strings_size;
	uint64_t relocations, relocations_size;
	uint64_t linkage, linkage_size;
	uint64_t relative, relative_size;
};

static void read_dynamic(struct mal_image *image, const struct mal_image_parts *parts,
			 struct tables *tables)
{
	Elf64_Dyn entry;

	for (uint64_t at = 0; at + sizeof(entry) <= parts->dynamic_size; at += sizeof(entry)) {
		if (!mal_image_copy(image, parts->dynamic + at, &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			return;
		switch (entry.d_tag) {
		case DT_SYMTAB: tables->symbols = entry.d_un.d_ptr; break;
		case DT_STRTAB: tables->strings = entry.d_un.d_ptr; break;
		case DT_STRSZ: tables->strings_size = entry.d_un.d_val; break;
		case DT_RELA: tables->relocations = entry.d_un.d_ptr; break;
		case DT_RELASZ: tables->relocations_size = entry.d_un.d_val; break;
		case DT_JMPREL: tables->linkage = entry.d_un.d_ptr; break;
		case DT_PLTRELSZ: tables->linkage_size = entry.d_un.d_val; break;
		case 36: tables->relative = entry.d_un.d_ptr; break;	  /* DT_RELR */
		case 35: tables->relative_size = entry.d_un.d_val; break; /* DT_RELRSZ */
		case DT_PREINIT_ARRAY: image->arrays[0] = entry.d_un.d_ptr; break;
		case DT_PREINIT_ARRAYSZ: image->array_sizes[0] = entry.d_un.d_val; break;
		case DT_INIT_ARRAY: image->arrays[1] = entry.d_un.d_ptr; break;
		case DT_INIT_ARRAYSZ: image->array_sizes[1] = entry.d_un.d_val; break;
		case DT_FINI_ARRAY: image->arrays[2] = entry.d_un.d_ptr; break;
		case DT_FINI_ARRAYSZ: image->array_sizes[2] = entry.d_un.d_val; break;
		default: break;
		}
	}
}

/* The text at OFFSET of the table of strings, or NULL where it is not terminated. */
static const char *text_at(const struct mal_image *image, const struct tables *tables,
			   uint64_t offset)
{
	uint64_t left;
	const uint8_t *text;

	if (offset >= tables->strings_size)
		return NULL;
	text = mal_image_at(image, tables->strings + offset, &left);
	return text && memchr(text, 0, left) ? (const char *)text : NULL;
}

static int add(struct mal_image *image, const struct mal_slot *slot, struct mal_error *err)
{
	struct mal_slot *more;

	if (image->slot_count == MAL_IMAGE_SLOTS)
		return mal_fail(err, "too large: more than %d relocations", MAL_IMAGE_SLOTS);
	more = mal_room(image->slots, image->slot_count, sizeof(*more));
	if (!more)
		return mal_fail(err, "out of memory");
	image->slots = more;
	image->slots[image->slot_count++] = *slot;
	return 0;
}

static void resolve(const struct mal_image *image, const struct tables *tables,
		    const Elf64_Rela *relocation, struct mal_slot *slot)
{
	Elf64_Sym symbol = {0};
	uint64_t at = ELF64_R_SYM(relocation->r_info) * sizeof(symbol);

	slot->kind = MAL_SLOT_SYMBOL;
	slot->symbol = "?";
	if (!mal_image_copy(image, tables->symbols + at, &symbol, sizeof(symbol)))
		return;
	if (symbol.st_shndx != SHN_UNDEF && symbol.st_value) {
		slot->kind = ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC ? MAL_SLOT_RESOLVER
									    : MAL_SLOT_ADDRESS;
		slot->value = symbol.st_value + (uint64_t)relocation->r_addend;
	}
	slot->function = ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT &&
			 ELF64_ST_TYPE(symbol.st_info) != STT_TLS;
	slot->symbol = text_at(image, tables, symbol.st_name);
	if (!slot->symbol)
		slot->symbol = "?";
}

static int read_relocation(struct mal_image *image, const struct tables *tables,
			   const Elf64_Rela *relocation, int linkage, struct mal_error *err)
{
	struct mal_slot slot = {
		.address = relocation->r_offset,
		.value = (uint64_t)relocation->r_addend,
		.linkage = linkage,
	};

	switch (ELF64_R_TYPE(relocation->r_info)) {
	case R_X86_64_NONE:
	case R_X86_64_COPY: return 0;
	case R_X86_64_RELATIVE: slot.kind = MAL_SLOT_ADDRESS; break;
	case R_X86_64_IRELATIVE: slot.kind = MAL_SLOT_RESOLVER; break;
	case R_X86_64_64:
	case R_X86_64_GLOB_DAT:
	case R_X86_64_JUMP_SLOT:
		resolve(image, tables, relocation, &slot);
		if (slot.kind == MAL_SLOT_SYMBOL && ELF64_R_TYPE(relocation->r_info) != R_X86_64_64)
			slot.linkage = 1;
		break;
	default: slot.kind = MAL_SLOT_TLS;
	}
	return add(image, &slot, err);
}

static int read_table(struct mal_image *image, const struct tables *tables, uint64_t table,
		      uint64_t size, int linkage, struct mal_error *err)
{
	Elf64_Rela relocation;

	if (size > image->size)
		return mal_fail(err, "a table of relocations is longer than the file");
	for (uint64_t at = 0; at + sizeof(relocation) <= size; at += sizeof(relocation)) {
		if (!mal_image_copy(image, table + at, &relocation, sizeof(relocation)))
			return mal_fail(err, "relocations lie outside the file");
		if (read_relocation(image, tables, &relocation, linkage, err) < 0)
			return -1;
	}
	return 0;
}

static int add_relative(struct mal_image *image, uint64_t address, struct mal_error *err)
{
	struct mal_slot slot = {.address = address, .kind = MAL_SLOT_ADDRESS};

	if (!mal_image_copy(image, address, &slot.value, sizeof(slot.value)))
		return 0;
	return add(image, &slot, err);
}

/* DT_RELR: an address, then words of 63 bits, one for each of the words that follow. */
static int read_relative(struct mal_image *image, const struct tables *tables,
			 struct mal_error *err)
{
	uint64_t word, next = 0;

	if (tables->relative_size > image->size)
		return mal_fail(err, "a table of relocations is longer than the file");
	for (uint64_t at = 0; at + 8 <= tables->relative_size; at += 8) {
		if (!mal_image_copy(image, tables->relative + at, &word, sizeof(word)))
			return mal_fail(err, "relocations lie outside the file");
		if ((word & 1) == 0) {
			if (add_relative(image, word, err) < 0)
				return -1;
			next = word + 8;
			continue;
		}
		for (unsigned int bit = 1; bit < 64; bit++)
			if (word >> bit & 1 &&
			    add_relative(image, next + (uint64_t)(bit - 1) * 8, err) < 0)
				return -1;
		next += (uint64_t)63 * 8;
	}
	return 0;
}

int mal_image_read_slots(struct mal_image *image, const struct mal_image_parts *parts,
			 struct mal_error *err)
{
	struct tables tables = {0};

	read_dynamic(image, parts, &tables);
	if (read_table(image, &tables, tables.relocations, tables.relocations_size, 0, err) < 0 ||
	    read_table(image, &tables, tables.linkage, tables.linkage_size, 1, err) < 0 ||
	    read_relative(image, &tables, err) < 0)
		return -1;
	mal_sort_by_address(image->slots, image->slot_count, sizeof(*image->slots));
	return 0;
}
