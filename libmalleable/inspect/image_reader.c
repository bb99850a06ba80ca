/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* image_reader.c: reads an image: the headers of an ELF file, then its parts. */
#include "libmalleable/inspect/image_reader.h"

#include <string.h>

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

static int read_headers(struct mal_image *image, const Elf64_Ehdr *header,
			struct mal_image_parts *parts, struct mal_error *err)
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
		if (program.p_type == PT_TLS)
			image->thread_local_ = 1;
		if (program.p_type == PT_INTERP)
			image->program = 1;
		if (program.p_type == PT_GNU_EH_FRAME)
			parts->frames = program.p_vaddr;
	}
	return 0;
}

static int check_header(const struct mal_image *image, const Elf64_Ehdr *header,
			struct mal_error *err)
{
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return mal_fail(err, "no ELF file");
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
		return mal_fail(err, "no ELF file of 64 bits, little endian");
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
	struct mal_image_parts parts = {0};

	*image = (struct mal_image){.bytes = bytes, .size = size};
	if (size < sizeof(header))
		return mal_fail(err, "no ELF file");
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
	    mal_image_read_slots(image, &parts, err) < 0 ||
	    mal_image_read_functions(image, &parts, err) < 0) {
		mal_image_free(image);
		return -1;
	}
	mal_image_read_names(image, &header);
	return 0;
}
