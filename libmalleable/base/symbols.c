/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* symbols.c: dynamic symbols of a loaded object (System V ABI, ch. 5). */
#include "libmalleable/base/symbols.h"

#include <stdint.h>

struct mal_span mal_span_of(const struct dl_phdr_info *info)
{
	struct mal_span span = {.begin = UINTPTR_MAX};

	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		span.begin = begin < span.begin ? begin : span.begin;
		span.end = end > span.end ? end : span.end;
	}
	return span;
}

static void read_entry(const struct dl_phdr_info *info, const ElfW(Dyn) * entry,
		       struct mal_symbols *symbols)
{
	uintptr_t address = (uintptr_t)entry->d_un.d_ptr;
	/* glibc relocates these addresses in place, but not those of the kernel's vdso. */
	const void *at =
		(const void *)(address < info->dlpi_addr ? address + info->dlpi_addr : address);

	switch (entry->d_tag) {
	case DT_SYMTAB: symbols->symbols = at; break;
	case DT_STRTAB: symbols->names = at; break;
	case DT_GNU_HASH: symbols->gnu_hash = at; break;
	case DT_HASH: symbols->hash = at; break;
	case DT_RELA: symbols->relocations[0] = at; break;
	case DT_JMPREL: symbols->relocations[1] = at; break;
	case DT_RELASZ: symbols->sizes[0] = entry->d_un.d_val; break;
	case DT_PLTRELSZ: symbols->sizes[1] = entry->d_un.d_val; break;
	default: break;
	}
}

/* One more than the highest symbol number that a relocation names. */
static uint32_t relocated_symbols(const struct mal_symbols *symbols)
{
	uint32_t count = 0;

	for (int table = 0; table < 2; table++) {
		const ElfW(Rela) *relocation = symbols->relocations[table];

		for (size_t i = 0; relocation && i < symbols->sizes[table] / sizeof(*relocation);
		     i++)
			if (ELF64_R_SYM(relocation[i].r_info) >= count)
				count = (uint32_t)ELF64_R_SYM(relocation[i].r_info) + 1;
	}
	return count;
}

/*
 * No undefined symbol has this number or a higher one. The old hash table counts all symbols, a GNU
 * one starts behind the undefined ones. Without defined symbols that number is always 1; look at
 * the relocations then, as each called function has one. So do functions whose address a program
 * takes that runs where it was linked to: these are in the table.
 */
static uint32_t symbols_to_look_at(const struct dl_phdr_info *info,
				   const struct mal_symbols *symbols)
{
	uint32_t first = symbols->gnu_hash ? symbols->gnu_hash[1] : 1, relocated;

	if (symbols->hash)
		return symbols->hash[1];
	if (first > 1 && info->dlpi_addr)
		return first;
	relocated = relocated_symbols(symbols);
	return relocated > first ? relocated : first;
}

bool mal_symbols_read(const struct dl_phdr_info *info, struct mal_symbols *symbols)
{
	*symbols = (struct mal_symbols){0};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Dyn) * entry;

		if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		symbols->entries = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		for (entry = symbols->entries; entry->d_tag != DT_NULL; entry++)
			read_entry(info, entry, symbols);
	}
	return symbols->symbols && symbols->names;
}

bool mal_symbols_any(const struct dl_phdr_info *info, mal_symbols_look *look, void *data)
{
	struct mal_symbols symbols;
	uint32_t count;

	if (!mal_symbols_read(info, &symbols))
		return false;
	count = symbols_to_look_at(info, &symbols);
	for (uint32_t i = 1; i < count; i++)
		if (symbols.symbols[i].st_shndx == SHN_UNDEF &&
		    look(symbols.names + symbols.symbols[i].st_name, data))
			return true;
	return false;
}
