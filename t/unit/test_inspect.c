/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_inspect.c: files that are no programs, or hurt ones; linear values; what is known by
 * name.
 */
#include "t/unit/unit.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/inspect.h"
#include "libmalleable/inspect/names.h"
#include "libmalleable/inspect/read.h"
#include "libmalleable/inspect/values.h"

static void refuses_what_is_no_program(void **state)
{
	static const uint8_t text[128] = "#!/bin/sh\n";
	struct mal_inspection inspection;
	struct mal_error err;

	(void)state;
	assert_int_equal(mal_inspect(text, 4, &inspection, &err), -1);
	assert_string_equal(err.text, "no ELF file");
	assert_int_equal(mal_inspect(text, sizeof(text), &inspection, &err), -1);
	assert_string_equal(err.text, "no ELF file");
}

static Elf64_Ehdr header_for(uint16_t machine)
{
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
		.e_type = ET_DYN,
		.e_machine = machine,
		.e_phentsize = sizeof(Elf64_Phdr),
	};

	return header;
}

static void binds_all_on_other_machines(void **state)
{
	Elf64_Ehdr header = header_for(EM_AARCH64);
	struct mal_inspection inspection;
	struct mal_error err;

	(void)state;
	assert_int_equal(mal_inspect((uint8_t *)&header, sizeof(header), &inspection, &err), 0);
	assert_non_null(inspection.trouble);
	assert_null(mal_inspection_find(&inspection, 0));
	mal_inspection_free(&inspection);
}

static void checks_headers(void **state)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr program;
	} file = {.header = header_for(EM_X86_64)};
	struct mal_image image;
	struct mal_error err;

	(void)state;
	file.header.e_phoff = sizeof(file.header);
	file.header.e_phnum = 2;
	assert_int_equal(mal_image_read(&image, (uint8_t *)&file, sizeof(file), &err), -1);
	assert_string_equal(err.text, "the program headers lie outside the file");
	file.header.e_phnum = 1;
	file.program = (Elf64_Phdr){.p_type = PT_LOAD,
				    .p_offset = 8,
				    .p_filesz = sizeof(file),
				    .p_memsz = sizeof(file)};
	assert_int_equal(mal_image_read(&image, (uint8_t *)&file, sizeof(file), &err), -1);
	assert_string_equal(err.text, "a segment lies outside the file");
	file.program.p_filesz = 16;
	assert_int_equal(mal_image_read(&image, (uint8_t *)&file, sizeof(file), &err), 0);
	assert_false(mal_image_copy(&image, 0, &(uint8_t[32]){0}, 17));
	assert_true(mal_image_copy(&image, 0, &(uint8_t[32]){0}, 16));
	mal_image_free(&image);
}

static void adds_values(void **state)
{
	struct mal_values values;
	mal_value low, high, length;
	int64_t number;

	(void)state;
	assert_int_equal(mal_values_make(&values), 0);
	low = mal_of_symbol(&values, mal_symbol(&values, &(struct mal_symbol){.class = MAL_LOW}));
	high = mal_of_symbol(&values, mal_symbol(&values, &(struct mal_symbol){.class = MAL_HIGH}));
	assert_int_not_equal(low, high);
	length = mal_add(&values, high, low, -1);
	assert_int_equal(mal_add(&values, length, low, 1), high);
	assert_int_equal(mal_scale(&values, low, 8), mal_add(&values, low, low, 7));
	assert_true(mal_is_number(&values, mal_add(&values, length, length, -1), &number));
	assert_int_equal(number, 0);
	assert_int_equal(mal_only_symbol(&values, low)->class, MAL_LOW);
	assert_null(mal_only_symbol(&values, length));
	mal_values_free(&values);
}

static void knows_names(void **state)
{
	(void)state;
	assert_int_equal(mal_external("omp_get_thread_num")->kind, MAL_EXTERNAL_THREAD);
	assert_int_equal(mal_external("omp_get_thread_num_")->kind, MAL_EXTERNAL_THREAD);
	assert_int_equal(mal_external("sched_getcpu")->kind, MAL_EXTERNAL_IDENTITY);
	assert_int_equal(mal_external("sqrt")->kind, MAL_EXTERNAL_PURE);
	assert_int_equal(mal_external("_ZSt20__throw_length_errorPKc")->kind, MAL_EXTERNAL_END);
	assert_int_equal(mal_external("")->kind, MAL_EXTERNAL_UNKNOWN);
	assert_int_equal(mal_external("zzz")->kind, MAL_EXTERNAL_UNKNOWN);
}

/* The table is searched by halves. */
static void finds_every_name(void **state)
{
	static const char *const some[] = {
		"GOMP_atomic_end", "__kmpc_barrier", "abort",	      "y",
		"tanhf",	   "_ZdlPv",	     "__kmpc_single", "_Exit"};

	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		if (strcmp(some[i], "y") != 0)
			assert_string_equal(mal_external(some[i])->name, some[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_what_is_no_program),
		cmocka_unit_test(binds_all_on_other_machines),
		cmocka_unit_test(checks_headers),
		cmocka_unit_test(adds_values),
		cmocka_unit_test(knows_names),
		cmocka_unit_test(finds_every_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
