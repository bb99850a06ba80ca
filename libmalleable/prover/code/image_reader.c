/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * image_reader.c: reads an image, its parts one after the other: the headers of an ELF file; what
 * the dynamic linker writes into memory, by the relocations; where functions begin and end, by the
 * table of .eh_frame_hdr and its FDEs; their names, where the file has a table of symbols.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/prover/code/find.h"
#include "libmalleable/prover/code/image.h"

struct parts {
	uint64_t dynamic, dynamic_size, frames;
};

/* Entries of the dynamic section, by their tags; elf.h may lack the last ones. */
enum { TAG_RELRSZ = 35, TAG_RELR, TAGS };

static void read_dynamic(struct mal_image *image, const struct parts *parts, uint64_t *tags)
{
	static const uint8_t arrays[] = {DT_PREINIT_ARRAY, DT_INIT_ARRAY, DT_FINI_ARRAY};
	static const uint8_t sizes[] = {DT_PREINIT_ARRAYSZ, DT_INIT_ARRAYSZ, DT_FINI_ARRAYSZ};
	Elf64_Dyn entry;

	for (uint64_t at = 0; at + sizeof(entry) <= parts->dynamic_size; at += sizeof(entry)) {
		if (!mal_image_copy(image, parts->dynamic + at, &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag > 0 && entry.d_tag < TAGS)
			tags[entry.d_tag] = entry.d_un.d_val;
	}
	for (size_t i = 0; i < sizeof(arrays); i++) {
		image->arrays[i] = tags[arrays[i]];
		image->array_sizes[i] = tags[sizes[i]];
	}
}

/* The text at OFFSET of the table of strings, or NULL where it is not terminated. */
static const char *text_at(const struct mal_image *image, const uint64_t *tags, uint64_t offset)
{
	uint64_t left;
	const uint8_t *text;

	if (offset >= tags[DT_STRSZ])
		return NULL;
	text = mal_image_at(image, tags[DT_STRTAB] + offset, &left);
	return text && memchr(text, 0, left) ? (const char *)text : NULL;
}

static int add(struct mal_image *image, const struct mal_slot *slot, struct mal_error *err)
{
	if (image->slot_count == MAL_IMAGE_SLOTS)
		return mal_fail(err, "too large: more than %d relocations", MAL_IMAGE_SLOTS);
	if (!mal_grow(&image->slots, image->slot_count, sizeof(*slot)))
		return mal_fail(err, "out of memory");
	image->slots[image->slot_count++] = *slot;
	return 0;
}

static void resolve(const struct mal_image *image, const uint64_t *tags,
		    const Elf64_Rela *relocation, struct mal_slot *slot)
{
	Elf64_Sym symbol = {0};
	uint64_t at = ELF64_R_SYM(relocation->r_info) * sizeof(symbol);

	slot->kind = MAL_SLOT_SYMBOL;
	slot->symbol = "?";
	if (!mal_image_copy(image, tags[DT_SYMTAB] + at, &symbol, sizeof(symbol)))
		return;
	if (symbol.st_shndx != SHN_UNDEF && symbol.st_value) {
		slot->kind = ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC ? MAL_SLOT_RESOLVER
									    : MAL_SLOT_ADDRESS;
		slot->value = symbol.st_value + (uint64_t)relocation->r_addend;
	}
	slot->function = ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT &&
			 ELF64_ST_TYPE(symbol.st_info) != STT_TLS;
	slot->symbol = text_at(image, tags, symbol.st_name);
	if (!slot->symbol)
		slot->symbol = "?";
}

static int read_relocation(struct mal_image *image, const uint64_t *tags,
			   const Elf64_Rela *relocation, bool linkage, struct mal_error *err)
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
		resolve(image, tags, relocation, &slot);
		if (slot.kind == MAL_SLOT_SYMBOL && ELF64_R_TYPE(relocation->r_info) != R_X86_64_64)
			slot.linkage = 1;
		break;
	default: slot.kind = MAL_SLOT_TLS;
	}
	return add(image, &slot, err);
}

/* The relocations at TABLE and their SIZE, both tags. */
static int read_table(struct mal_image *image, const uint64_t *tags, unsigned int table,
		      unsigned int size, struct mal_error *err)
{
	Elf64_Rela relocation;

	if (tags[size] > image->size)
		return mal_fail(err, "a table of relocations is longer than the file");
	for (uint64_t at = 0; at + sizeof(relocation) <= tags[size]; at += sizeof(relocation)) {
		if (!mal_image_copy(image, tags[table] + at, &relocation, sizeof(relocation)))
			return mal_fail(err, "relocations lie outside the file");
		if (read_relocation(image, tags, &relocation, table == DT_JMPREL, err) < 0)
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
static int read_relative(struct mal_image *image, const uint64_t *tags, struct mal_error *err)
{
	uint64_t word, next = 0;

	if (tags[TAG_RELRSZ] > image->size)
		return mal_fail(err, "a table of relocations is longer than the file");
	for (uint64_t at = 0; at + 8 <= tags[TAG_RELRSZ]; at += 8) {
		if (!mal_image_copy(image, tags[TAG_RELR] + at, &word, sizeof(word)))
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

static int image_read_slots(struct mal_image *image, const struct parts *parts,
			    struct mal_error *err)
{
	uint64_t tags[TAGS] = {0};

	read_dynamic(image, parts, tags);
	if (read_table(image, tags, DT_RELA, DT_RELASZ, err) < 0 ||
	    read_table(image, tags, DT_JMPREL, DT_PLTRELSZ, err) < 0 ||
	    read_relative(image, tags, err) < 0)
		return -1;
	mal_sort_by_address(image->slots, image->slot_count, sizeof(*image->slots));
	return 0;
}

enum { PCREL_SDATA4 = 0x1b, DATAREL_SDATA4 = 0x3b, UDATA4 = 0x03 };

static uint64_t relative(uint64_t base, uint32_t distance)
{
	return base + (uint64_t)(int64_t)(int32_t)distance;
}

/* Of a CIE: whether its FDEs are of the one kind that compilers write, and have an LSDA. */
static bool read_cie(const struct mal_image *image, uint64_t cie, int *lsda)
{
	struct mal_cursor cursor = {.image = image, .at = cie + 8};
	char letters[8] = "";
	size_t count = 0;
	uint8_t pointers = 0;

	if (mal_cursor_byte(&cursor) != 1)
		return 0;
	for (char letter; (letter = (char)mal_cursor_byte(&cursor)) && !cursor.failed;) {
		if (count == sizeof(letters) - 1)
			return 0;
		letters[count++] = letter;
	}
	mal_cursor_leb(&cursor);
	mal_cursor_leb(&cursor);
	mal_cursor_leb(&cursor);
	if (letters[0] != 'z')
		return 0;
	mal_cursor_leb(&cursor);
	*lsda = 0;
	for (size_t i = 1; i < count; i++) {
		if (letters[i] == 'R') {
			pointers = mal_cursor_byte(&cursor);
		} else if (letters[i] == 'L') {
			*lsda = 1;
			if (mal_cursor_byte(&cursor) != PCREL_SDATA4)
				return 0;
		} else if (letters[i] == 'P') {
			uint8_t kind = mal_cursor_byte(&cursor) & 0x0f;

			cursor.at += kind == 0x0c || kind == 0x04 || kind == 0 ? 8 : 4;
		} else if (letters[i] != 'S') {
			return 0;
		}
	}
	return !cursor.failed && pointers == PCREL_SDATA4;
}

static bool read_fde(const struct mal_image *image, uint64_t fde, struct mal_function *function)
{
	struct mal_cursor cursor = {.image = image, .at = fde};
	uint32_t length = mal_cursor_word(&cursor), back = mal_cursor_word(&cursor);
	uint64_t at = cursor.at;
	int lsda;

	if (cursor.failed || length == 0 || length == UINT32_MAX || back == 0 ||
	    !read_cie(image, fde + 4 - back, &lsda))
		return 0;
	function->start = relative(at, mal_cursor_word(&cursor));
	function->end = function->start + mal_cursor_word(&cursor);
	mal_cursor_leb(&cursor);
	function->handlers = 0;
	if (lsda) {
		uint32_t distance;

		at = cursor.at;
		distance = mal_cursor_word(&cursor);
		if (distance)
			function->handlers = relative(at, distance);
	}
	return !cursor.failed && function->end > function->start &&
	       mal_image_executable(image, function->start) &&
	       mal_image_executable(image, function->end - 1);
}

/* Functions do not overlap: the second of two that do is left out. */
static void tidy(struct mal_image *image)
{
	size_t kept = 0;

	mal_sort_by_address(image->functions, image->function_count, sizeof(*image->functions));
	for (size_t i = 0; i < image->function_count; i++)
		if (kept == 0 || image->functions[i].start >= image->functions[kept - 1].end)
			image->functions[kept++] = image->functions[i];
	image->function_count = kept;
}

static int image_read_functions(struct mal_image *image, const struct parts *parts,
				struct mal_error *err)
{
	struct mal_cursor cursor = {.image = image, .at = parts->frames};
	uint32_t count;

	if (!parts->frames)
		return 0;
	if (mal_cursor_byte(&cursor) != 1 || mal_cursor_byte(&cursor) != PCREL_SDATA4 ||
	    mal_cursor_byte(&cursor) != UDATA4 || mal_cursor_byte(&cursor) != DATAREL_SDATA4)
		return 0;
	mal_cursor_word(&cursor);
	count = mal_cursor_word(&cursor);
	if (cursor.failed || count == 0)
		return 0;
	if (count > MAL_IMAGE_FUNCTIONS || count > image->size / 8)
		return mal_fail(err, "too large: %u functions", count);
	image->functions = calloc(count, sizeof(*image->functions));
	if (!image->functions)
		return mal_fail(err, "out of memory");
	for (uint32_t i = 0; i < count; i++) {
		uint64_t fde;

		mal_cursor_word(&cursor);
		fde = relative(parts->frames, mal_cursor_word(&cursor));
		if (cursor.failed)
			break;
		if (read_fde(image, fde, &image->functions[image->function_count]))
			image->function_count++;
	}
	tidy(image);
	return 0;
}

static bool section_at(const struct mal_image *image, const Elf64_Ehdr *header, unsigned int index,
		       Elf64_Shdr *section)
{
	uint64_t at = header->e_shoff + (uint64_t)index * sizeof(*section);

	if (index >= header->e_shnum || header->e_shentsize != sizeof(*section) ||
	    header->e_shoff > image->size || at > image->size ||
	    image->size - at < sizeof(*section))
		return 0;
	memcpy(section, image->bytes + at, sizeof(*section));
	return section->sh_offset <= image->size &&
	       section->sh_size <= image->size - section->sh_offset;
}

static void name_function(struct mal_image *image, const Elf64_Sym *symbol,
			  const Elf64_Shdr *strings)
{
	struct mal_function *function;
	const char *name = (const char *)image->bytes + strings->sh_offset + symbol->st_name;

	if (symbol->st_name >= strings->sh_size || symbol->st_shndx == SHN_UNDEF ||
	    !memchr(name, 0, strings->sh_size - symbol->st_name))
		return;
	function = (struct mal_function *)mal_image_function(image, symbol->st_value);
	if (function && function->start == symbol->st_value && !function->name)
		function->name = name;
}

static void image_read_names(struct mal_image *image, const Elf64_Ehdr *header)
{
	for (unsigned int i = 0; i < header->e_shnum; i++) {
		Elf64_Shdr section, strings;

		if (!section_at(image, header, i, &section))
			continue;
		if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM)
			continue;
		if (!section_at(image, header, section.sh_link, &strings))
			continue;
		for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size;
		     at += sizeof(Elf64_Sym)) {
			Elf64_Sym symbol;

			memcpy(&symbol, image->bytes + section.sh_offset + at, sizeof(symbol));
			if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
				name_function(image, &symbol, &strings);
		}
	}
}

static int add_segment(struct mal_image *image, const Elf64_Phdr *header, struct mal_error *err)
{
	struct mal_image_segment *segment;

	if (image->segment_count == MAL_IMAGE_SEGMENTS)
		return mal_fail(err, "too many segments");
	if (header->p_offset > image->size || header->p_filesz > image->size - header->p_offset ||
	    header->p_filesz > header->p_memsz || header->p_vaddr > UINT64_MAX / 2 ||
	    header->p_memsz > UINT64_MAX / 4)
		return mal_fail(err, "a segment lies outside the file");
	segment = &image->segments[image->segment_count++];
	*segment = (struct mal_image_segment){
		.address = header->p_vaddr,
		.size = header->p_memsz,
		.offset = header->p_offset,
		.stored = header->p_filesz,
		.executable = (header->p_flags & PF_X) != 0,
		.writable = (header->p_flags & PF_W) != 0,
	};
	return 0;
}

static int read_headers(struct mal_image *image, const Elf64_Ehdr *header, struct parts *parts,
			struct mal_error *err)
{
	for (unsigned int i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr program;

		memcpy(&program, image->bytes + header->e_phoff + i * sizeof(program),
		       sizeof(program));
		if (program.p_type == PT_LOAD && add_segment(image, &program, err) < 0)
			return -1;
		if (program.p_type == PT_DYNAMIC) {
			image->dynamic = 1;
			parts->dynamic = program.p_vaddr;
			parts->dynamic_size = program.p_memsz;
		}
		if (program.p_type == PT_GNU_EH_FRAME)
			parts->frames = program.p_vaddr;
	}
	return 0;
}

static int check_header(const struct mal_image *image, const Elf64_Ehdr *header,
			struct mal_error *err)
{
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return mal_fail(err, "not an ELF file");
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
		return mal_fail(err, "not a 64-bit little-endian ELF file");
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return mal_fail(err, "neither an executable nor a shared library");
	if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phoff > image->size ||
	    header->e_phnum > (image->size - header->e_phoff) / sizeof(Elf64_Phdr))
		return mal_fail(err, "the program headers lie outside the file");
	return 0;
}

int mal_image_read(struct mal_image *image, const uint8_t *bytes, size_t size,
		   struct mal_error *err)
{
	Elf64_Ehdr header;
	struct parts parts = {0};

	*image = (struct mal_image){.bytes = bytes, .size = size};
	if (size < sizeof(header))
		return mal_fail(err, "not an ELF file");
	if (size > MAL_IMAGE_BYTES)
		return mal_fail(err, "too large");
	memcpy(&header, bytes, sizeof(header));
	if (check_header(image, &header, err) < 0)
		return -1;
	if (header.e_machine != EM_X86_64) {
		image->other_machine = 1;
		return 0;
	}
	image->fixed = header.e_type == ET_EXEC;
	image->entry = header.e_entry;
	if (read_headers(image, &header, &parts, err) < 0 ||
	    image_read_slots(image, &parts, err) < 0 ||
	    image_read_functions(image, &parts, err) < 0) {
		mal_image_free(image);
		return -1;
	}
	image_read_names(image, &header);
	return 0;
}
