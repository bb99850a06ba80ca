/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* symbol_table.c: names of functions, where the file has a table of symbols. */
#include <elf.h>
#include <string.h>

#include "libmalleable/inspect/image_reader.h"

static int section_at(const struct mal_image *image, const Elf64_Ehdr *header, unsigned int index,
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

void mal_image_read_names(struct mal_image *image, const Elf64_Ehdr *header)
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
