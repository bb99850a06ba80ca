/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lines.c: source lines by libdw. */
#include "libmalleable/prover/cmd/lines.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBDW

#include <elfutils/libdw.h>
#include <gelf.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/prover/code/find.h"
#include "libmalleable/prover/code/image.h"

/* A file may have its units share lists of ranges: more of them are not looked at. */
enum { RANGES = 1 << 20 };

struct range {
	Dwarf_Addr begin, end;
	Dwarf_Off unit;
};

struct mal_lines {
	Elf *elf;
	Dwarf *dwarf;
	uint64_t until_ns;
	struct range *ranges; /* sorted, once LISTED */
	size_t count;
	bool listed;
};

/* Whether compressed sections become no larger than a file may be: libdw knows no bound. */
static bool is_bounded(Elf *elf)
{
	uint64_t left = MAL_IMAGE_BYTES;
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		GElf_Chdr packed;
		const char *name;

		if (!gelf_getshdr(section, &header))
			return false;
		/* That of old compilers has no header for its size. */
		name = elf_strptr(elf, names, header.sh_name);
		if (name && strncmp(name, ".zdebug", 7) == 0)
			return false;
		if (!(header.sh_flags & SHF_COMPRESSED))
			continue;
		if (!gelf_getchdr(section, &packed) || packed.ch_size > left)
			return false;
		left -= packed.ch_size;
	}
	return true;
}

struct mal_lines *mal_lines_open(const uint8_t *bytes, size_t size, uint64_t until_ns)
{
	struct mal_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	lines->until_ns = until_ns;
	elf_version(EV_CURRENT);
	/* It is read alone, though the function's type does not tell. */
	lines->elf = elf_memory((char *)(uintptr_t)bytes, size);
	if (lines->elf && is_bounded(lines->elf))
		lines->dwarf = dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL);
	if (!lines->dwarf) {
		mal_lines_close(lines);
		return NULL;
	}
	/* Else it would open the file that .gnu_debugaltlink names, which may be a pipe. */
	dwarf_setalt(lines->dwarf, lines->dwarf);
	return lines;
}

static void add_ranges(struct mal_lines *lines, Dwarf_Die *unit)
{
	struct range range = {.unit = dwarf_dieoffset(unit)};
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	while (lines->count < RANGES &&
	       (at = dwarf_ranges(unit, at, &base, &range.begin, &range.end)) > 0) {
		if (!mal_grow(&lines->ranges, lines->count, sizeof(range)))
			return;
		lines->ranges[lines->count++] = range;
	}
}

/* What the compilation units have. Not by .debug_aranges, which clang leaves out. */
static void list_ranges(struct mal_lines *lines)
{
	Dwarf_CU *at = NULL;
	Dwarf_Die unit;

	lines->listed = true;
	while (mal_now_ns() < lines->until_ns &&
	       dwarf_get_units(lines->dwarf, at, &at, NULL, NULL, &unit, NULL) == 0)
		add_ranges(lines, &unit);
	mal_sort_by_address(lines->ranges, lines->count, sizeof(*lines->ranges));
}

const char *mal_lines_find(struct mal_lines *lines, uint64_t address, char *text, size_t size)
{
	const struct range *range;
	const char *path, *name;
	Dwarf_Line *line;
	Dwarf_Die unit;
	int number;

	*text = '\0';
	if (!lines || mal_now_ns() >= lines->until_ns)
		return text;
	if (!lines->listed)
		list_ranges(lines);
	range = mal_find_before(lines->ranges, lines->count, sizeof(*range), address);
	if (!range || address >= range->end || !dwarf_offdie(lines->dwarf, range->unit, &unit))
		return text;
	line = dwarf_getsrc_die(&unit, address);
	path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (!path || dwarf_lineno(line, &number) != 0 || number <= 0)
		return text;
	name = strrchr(path, '/');
	snprintf(text, size, "%s:%d", name ? name + 1 : path, number);
	return text;
}

void mal_lines_close(struct mal_lines *lines)
{
	if (!lines)
		return;
	dwarf_end(lines->dwarf);
	elf_end(lines->elf);
	free(lines->ranges);
	free(lines);
}

#else

struct mal_lines *mal_lines_open(const uint8_t *bytes, size_t size, uint64_t until_ns)
{
	(void)bytes;
	(void)size;
	(void)until_ns;
	return NULL;
}

const char *mal_lines_find(struct mal_lines *lines, uint64_t address, char *text, size_t size)
{
	(void)lines;
	(void)address;
	(void)size;
	*text = '\0';
	return text;
}

void mal_lines_close(struct mal_lines *lines)
{
	(void)lines;
}

#endif
