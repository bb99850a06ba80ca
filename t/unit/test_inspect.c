/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_inspect.c: files that are no programs, or hurt ones; how iterations are divided; what is
 * known by name.
 */
#include "t/unit/unit.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/prover/code/classify.h"
#include "libmalleable/prover/code/image.h"
#include "libmalleable/prover/code/names.h"
#include "libmalleable/prover/code/operations.h"
#include "libmalleable/prover/code/shapes.h"
#include "t/inspect/programs/share.h"

static void refuses_what_is_no_program(void **state)
{
	static const uint8_t text[128] = "#!/bin/sh\n";
	struct mal_verdicts verdicts;
	struct mal_error err;

	(void)state;
	assert_int_equal(mal_inspect(text, 4, NULL, &verdicts, &err), -1);
	assert_string_equal(err.text, "not an ELF file");
	assert_int_equal(mal_inspect(text, sizeof(text), NULL, &verdicts, &err), -1);
	assert_string_equal(err.text, "not an ELF file");
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
	struct mal_verdicts verdicts;
	struct mal_error err;

	(void)state;
	assert_int_equal(mal_inspect((uint8_t *)&header, sizeof(header), NULL, &verdicts, &err), 0);
	assert_non_null(verdicts.trouble);
	assert_null(mal_verdict_find(&verdicts, 0));
	mal_verdicts_free(&verdicts);
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

/* gcc's division of N iterations: the first one of a thread, and how many it has. */
static void divide(struct mal_values *values, mal_value *low, mal_value *length)
{
	mal_value thread = mal_leaf(values, MAL_THREAD, 0), n = mal_symbol(values, 8, 0);
	mal_value threads = mal_leaf(values, MAL_THREADS, 0);
	mal_value quotient = mal_make(values, MAL_DIVIDE, 0, n, threads, 0);
	mal_value rest = mal_make(values, MAL_REMAINDER, 0, n, threads, 0);
	mal_value more = mal_make(values, MAL_COMPARE, MAL_LESS, thread, rest, 0);

	*length = mal_make(values, MAL_SELECT, 0, more,
			   mal_plus(values, quotient, mal_number(values, 1)), quotient);
	rest = mal_make(values, MAL_SELECT, 0, more, mal_number(values, 0), rest);
	*low = mal_plus(values, mal_make(values, MAL_MULTIPLY, 0, thread, *length, 0), rest);
}

static void adds_values(void **state)
{
	struct mal_values values;
	mal_value low, high, n;
	int64_t number;

	(void)state;
	assert_int_equal(mal_values_make(&values), 0);
	low = mal_leaf(&values, MAL_LOW, 0);
	high = mal_leaf(&values, MAL_HIGH, 0);
	n = mal_symbol(&values, 8, 0);
	assert_int_not_equal(low, high);
	assert_int_equal(mal_plus(&values, low, high), mal_plus(&values, high, low));
	assert_true(mal_is_number(&values, mal_minus(&values, n, n), &number));
	assert_int_equal(number, 0);
	assert_int_equal(mal_node(&values, mal_plus(&values, low, n))->class, MAL_ITERATIONS);
	assert_int_equal(mal_without_share(&values, MAL_LESS_EQUAL, low, high), 0);
	mal_values_free(&values);
}

static void knows_a_share(void **state)
{
	struct mal_values values;
	mal_value low, length, thread;

	(void)state;
	assert_int_equal(mal_values_make(&values), 0);
	thread = mal_leaf(&values, MAL_THREAD, 0);
	divide(&values, &low, &length);
	assert_true(mal_is_share(&values, low));
	assert_true(mal_is_share(&values, length));
	assert_true(mal_is_share(&values, mal_plus(&values, low, length)));
	assert_false(mal_is_share(&values, mal_plus(&values, low, thread)));
	assert_false(mal_is_share(&values, thread));
	assert_int_equal(mal_without_share(&values, MAL_LESS, low, mal_plus(&values, low, length)),
			 0);
	assert_int_equal(mal_shape_of(&values, low)->start, 1);
	assert_int_equal(mal_shape_of(&values, length)->start, 0);
	mal_values_free(&values);
}

static void knows_names(void **state)
{
	(void)state;
	assert_int_equal(mal_external("omp_get_thread_num")->kind, MAL_EXTERNAL_THREAD);
	assert_int_equal(mal_external("omp_get_thread_num_")->kind, MAL_EXTERNAL_THREAD);
	assert_int_equal(mal_external("sched_getcpu")->kind, MAL_EXTERNAL_ASKS);
	assert_int_equal(mal_external("cudaSetDevice")->kind, MAL_EXTERNAL_ASKS);
	assert_int_equal(mal_external("sqrt")->kind, MAL_EXTERNAL_PURE);
	assert_int_equal(mal_external("clock_nanosleep")->kind, MAL_EXTERNAL_PURE);
	assert_int_equal(mal_external("MPI_Send")->kind, MAL_EXTERNAL_BINDS);
	assert_int_equal(mal_external("MPI_Abort")->kind, MAL_EXTERNAL_END);
	assert_int_equal(mal_external("_ZSt20__throw_length_errorPKc")->kind, MAL_EXTERNAL_END);
	assert_int_equal(mal_external("")->kind, MAL_EXTERNAL_OTHER);
	assert_int_equal(mal_external("zzz")->kind, MAL_EXTERNAL_OTHER);
}

/* Four regions of this program. The last one has vectors, and their rest. */
void GOMP_parallel(void (*function)(void *), void *data, unsigned int threads, unsigned int flags);
void first_region(void *data);
void second_region(void *data);
void third_region(void *data);
void fourth_region(void *data);

void first_region(void *data)
{
	*(int *)data = 1;
}

void second_region(void *data)
{
	*(int *)data = 2;
}

void third_region(void *data)
{
	*(int *)data = 3;
}

#ifndef __clang__
__attribute__((optimize("O3")))
#endif
void fourth_region(void *data)
{
	int *list = data;
	SHARE(1000);

	for (int i = low; i < high; i++) {
		list[i] += i;
		list[1000 + i] += i;
		list[2000 + i] += i;
		list[3000 + i] += i;
		list[4000 + i] += i;
		list[5000 + i] += i;
	}
}

/* An verdicts that asks for one region first. */
static struct {
	uint64_t wanted, found[8];
	size_t count;
} asking;

static uint64_t next_one(void *data)
{
	(void)data;
	return asking.wanted;
}

static void note_one(uint64_t address, void *data)
{
	(void)data;
	if (asking.count < 8)
		asking.found[asking.count++] = address;
}

/* Lists until one cannot grow. Behind what one was asked for nothing makes sense. */
static long until_failure = -1;
static bool failed;
#define BEHIND 16384

void *__wrap_realloc(void *memory, size_t size);

void *__wrap_realloc(void *memory, size_t size)
{
	size_t before = memory ? malloc_usable_size(memory) : 0;
	bool fails = until_failure-- == 0;
	void *more = fails ? NULL : malloc(size + BEHIND);

	failed |= fails;
	if (!more)
		return NULL;
	for (size_t i = 0; i < size + BEHIND; i++)
		((unsigned char *)more)[i] = i / 8 % 5 ? 0xaa : 0;
	if (memory)
		memcpy(more, memory, before < size ? before : size);
	free(memory);
	return more;
}

static struct mal_verdicts inspect_file(const char *path, const struct mal_verdicts *earlier)
{
	struct mal_inspect_options options = {
		.next = next_one, .found = note_one, .earlier = earlier};
	int fd = open(path, O_RDONLY);
	struct mal_verdicts verdicts;
	struct mal_error err;
	struct stat status;
	void *bytes;

	assert_int_equal(fstat(fd, &status), 0);
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(bytes, MAP_FAILED);
	asking.count = 0;
	failed = false;
	assert_true(mal_inspect(bytes, (size_t)status.st_size, &options, &verdicts, &err) == 0 ||
		    failed);
	munmap(bytes, (size_t)status.st_size);
	close(fd);
	return verdicts;
}

static struct mal_verdicts inspect_this(const struct mal_verdicts *earlier)
{
	return inspect_file("/proc/self/exe", earlier);
}

/* All by address but the one that is asked for; one that is known is not read again. */
static void reads_first_what_is_asked_for(void **state)
{
	struct mal_verdicts all, known;

	(void)state;
	asking.wanted = 0;
	all = inspect_this(NULL);
	if (all.trouble)
		skip();
	assert_int_equal(all.count, 4);
	assert_int_equal(asking.count, 4);
	assert_int_equal(asking.found[2], all.list[2].address);
	asking.wanted = all.list[2].address;
	known = inspect_this(NULL);
	assert_int_equal(asking.count, 4);
	assert_int_equal(asking.found[0], asking.wanted);
	assert_int_equal(asking.found[1], all.list[0].address);
	assert_int_equal(known.list[2].address, asking.wanted);
	mal_verdicts_free(&known);

	known = (struct mal_verdicts){.list = &all.list[2], .count = 1};
	known = inspect_this(&known);
	assert_int_equal(asking.count, 3);
	assert_int_equal(known.count, 4);
	for (size_t i = 0; i < known.count; i++) {
		assert_int_equal(known.list[i].address, all.list[i].address);
		assert_int_equal(known.list[i].free, all.list[i].free);
		assert_string_equal(known.list[i].name, all.list[i].name);
	}
	mal_verdicts_free(&known);
	mal_verdicts_free(&all);
}

/* What was found out at an earlier start about functions behind pointers is not taken for less. */
static void reads_on_what_calls_through_pointers(void **state)
{
	struct mal_verdicts all, known;
	char path[PATH_MAX + 16] = "";

	(void)state;
	assert_true(readlink("/proc/self/exe", path, PATH_MAX) > 0);
	strcpy(strrchr(path, '/'), "/pointers");
	asking.wanted = 0;
	all = inspect_file(path, NULL);
	if (all.trouble)
		skip();
	assert_int_equal(all.count, 2);
	for (size_t earlier = 0; earlier < all.count; earlier++) {
		known = (struct mal_verdicts){.list = &all.list[earlier], .count = 1};
		known = inspect_file(path, &known);
		assert_int_equal(known.count, 2);
		assert_int_equal(known.indirect_observes, all.indirect_observes);
		for (size_t i = 0; i < known.count; i++) {
			assert_true(all.list[i].free && all.list[i].sums);
			assert_true(known.list[i].free);
			assert_non_null(known.list[i].sums);
			assert_string_equal(known.list[i].sums, all.list[i].sums);
		}
		mal_verdicts_free(&known);
	}
	mal_verdicts_free(&all);
}

/* What there is no memory for is bound, or the whole file is not known. */
static void survives_without_memory(void **state)
{
	struct mal_verdicts all, less;
	long number = 0;

	(void)state;
	asking.wanted = 0;
	all = inspect_this(NULL);
	do {
		until_failure = number++;
		less = inspect_this(NULL);
		for (size_t i = 0; i < less.count; i++)
			assert_true(all.list[i].free || !less.list[i].free);
		mal_verdicts_free(&less);
	} while (failed);
	until_failure = -1;
	mal_verdicts_free(&all);
}

int main(int argc, char **argv)
{
	static int list[6000];

	(void)argv;
	if (argc > 1) {
		GOMP_parallel(first_region, &argc, 1, 0);
		GOMP_parallel(second_region, &argc, 1, 0);
		GOMP_parallel(third_region, &argc, 1, 0);
		GOMP_parallel(fourth_region, list, 1, 0);
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_what_is_no_program),
		cmocka_unit_test(reads_first_what_is_asked_for),
		cmocka_unit_test(reads_on_what_calls_through_pointers),
		cmocka_unit_test(survives_without_memory),
		cmocka_unit_test(binds_all_on_other_machines),
		cmocka_unit_test(checks_headers),
		cmocka_unit_test(adds_values),
		cmocka_unit_test(knows_a_share),
		cmocka_unit_test(knows_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
