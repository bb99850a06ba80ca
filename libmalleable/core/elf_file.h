/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * elf_file.h: a program's or library's file, which need not be loaded (System V ABI, ch. 4). Raw
 * system calls and no memory of libc's: for a process that has just started, or a vfork(2) child.
 */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

struct mal_elf_file {
	const unsigned char *bytes; /* the whole file */
	size_t size;
	const ElfW(Sym) * symbols; /* the dynamic ones */
	size_t symbol_count;
	const ElfW(Dyn) * entries; /* of the dynamic section */
	size_t entry_count;
	const char *names; /* of both */
	size_t names_size;
};

/* The file PATH in memory, of *SIZE bytes; NULL: it cannot be read. */
const unsigned char *mal_elf_file_map(const char *path, size_t *size);
void mal_elf_file_unmap(const unsigned char *bytes, size_t size);

/* Whether COUNT items of SIZE bytes from OFFSET on are in a file of WHOLE bytes. */
bool mal_elf_file_fits(size_t whole, size_t offset, size_t count, size_t size);

/* Returns false if PATH is no dynamically linked file for this machine. */
bool mal_elf_file_open(struct mal_elf_file *file, const char *path);
void mal_elf_file_close(const struct mal_elf_file *file);

/* The name at OFFSET; empty where there is none. */
const char *mal_elf_file_name(const struct mal_elf_file *file, size_t offset);

/* Whether NAME, of a symbol or a library, begins as one of BEGINNINGS, which NULL ends. */
bool mal_elf_name_is_of(const char *name, const char *const *beginnings);
