/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * elf_file.c: a program's or library's file.
 *
 * Invariant: no byte outside the file is read (t/unit/test_core.c: names_of_files_end).
 */
#include "libmalleable/core/elf_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "libmalleable/base/raw.h"

#if defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

const unsigned char *mal_elf_file_map(const char *path, size_t *size)
{
	long fd = MAL_RAW(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), at = -1;
	struct stat status;

	if (fd < 0)
		return NULL;
	if (MAL_RAW(SYS_fstat, fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
		at = MAL_RAW(SYS_mmap, NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	MAL_RAW(SYS_close, fd);
	*size = (size_t)status.st_size;
	return at > 0 ? (const unsigned char *)at : NULL;
}

void mal_elf_file_unmap(const unsigned char *bytes, size_t size)
{
	MAL_RAW(SYS_munmap, bytes, size);
}

bool mal_elf_file_fits(size_t whole, size_t offset, size_t count, size_t size)
{
	return offset <= whole && count <= (whole - offset) / size;
}

/* What SECTION is about, NULL: it is not in the file. */
static const void *find(const struct mal_elf_file *file, const ElfW(Shdr) * section)
{
	return mal_elf_file_fits(file->size, section->sh_offset, section->sh_size, 1)
		       ? file->bytes + section->sh_offset
		       : NULL;
}

static void read_section(struct mal_elf_file *file, const ElfW(Shdr) * sections, size_t count,
			 const ElfW(Shdr) * section)
{
	if (section->sh_type == SHT_DYNAMIC && (file->entries = find(file, section)))
		file->entry_count = section->sh_size / sizeof(*file->entries);
	if (section->sh_type != SHT_DYNSYM || section->sh_link >= count ||
	    !(file->symbols = find(file, section)))
		return;
	file->symbol_count = section->sh_size / sizeof(*file->symbols);
	section = &sections[section->sh_link];
	file->names = find(file, section);
	file->names_size = file->names ? section->sh_size : 0;
	/* Names end within: else each symbol's may be as long as the file. */
	if (!file->names_size || file->names[file->names_size - 1])
		file->names = NULL;
}

static bool read_sections(struct mal_elf_file *file)
{
	const ElfW(Ehdr) *header = (const void *)file->bytes;
	const ElfW(Shdr) * sections;

	if (file->size < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != MACHINE ||
	    !mal_elf_file_fits(file->size, header->e_shoff, header->e_shnum, sizeof(*sections)))
		return false;
	sections = (const void *)(file->bytes + header->e_shoff);
	for (size_t i = 0; i < header->e_shnum; i++)
		read_section(file, sections, header->e_shnum, &sections[i]);
	return file->entries && file->symbols && file->names;
}

bool mal_elf_file_open(struct mal_elf_file *file, const char *path)
{
	*file = (struct mal_elf_file){0};
	file->bytes = mal_elf_file_map(path, &file->size);
	if (file->bytes && read_sections(file))
		return true;
	if (file->bytes)
		mal_elf_file_close(file);
	return false;
}

void mal_elf_file_close(const struct mal_elf_file *file)
{
	mal_elf_file_unmap(file->bytes, file->size);
}

const char *mal_elf_file_name(const struct mal_elf_file *file, size_t offset)
{
	return offset < file->names_size ? file->names + offset : "";
}

bool mal_elf_name_is_of(const char *name, const char *const *beginnings)
{
	for (; *beginnings; beginnings++)
		if (*name == **beginnings && strncmp(name, *beginnings, strlen(*beginnings)) == 0)
			return true;
	return false;
}
