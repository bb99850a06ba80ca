/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_sites.c: which region a call starts, of calls in this program itself that are written out as
 * compilers might write them.
 */
#include "t/unit/unit.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/inspect/sites.h"

#if defined(HAVE_ZYDIS) && defined(__x86_64__)

int omp_get_thread_num(void);
void region_free(void *data);
void region_bound(void *data);

void region_free(void *data)
{
	(void)data;
}

void region_bound(void *data)
{
	*(int *)data = omp_get_thread_num();
}

#define FREE "leaq region_free(%rip), %rdi\n"
#define BOUND "leaq region_bound(%rip), %rdi\n"
#define START "xorl %edx, %edx\ncall GOMP_parallel@PLT\n"
/* A function NAME of CODE; NAME_after is where its call returns to. */
#define FUNCTION(name, code, rest) \
	extern const char name##_after[]; \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name \
		":\n.cfi_startproc\n" code #name "_after:\n" rest \
		"ret\n.cfi_endproc\n.size " #name ", .-" #name "\n");

FUNCTION(plain, FREE START, "")
FUNCTION(plain_bound, BOUND START, "")
FUNCTION(either, BOUND "testl %esi, %esi\nje 1f\n" FREE "1:\n" START, "")
FUNCTION(either_free, FREE "testl %esi, %esi\nje 1f\n" FREE "1:\n" START, "")
FUNCTION(again, "leaq region_free(%rip), %rbx\n1: movq %rbx, %rdi\n" START, "decl %ebp\njne 1b\n")
FUNCTION(again_other, "leaq region_free(%rip), %rbx\n1: movq %rbx, %rdi\n" START,
	 "leaq region_bound(%rip), %rbx\ndecl %ebp\njne 1b\n")
FUNCTION(entered, FREE ".globl entered_here\nentered_here:\n" START, "")
FUNCTION(enters, BOUND ".byte 0xe9\n.long entered_here-.-4\n", "")
FUNCTION(from_memory, FREE "movq (%rsi), %rdi\n" START, "")
FUNCTION(in_part, BOUND "leaw region_free(%rip), %di\n" START, "")
FUNCTION(perhaps, FREE "testl %esi, %esi\nje 1f\nmovq (%rsi), %rdi\n1:\n" START, "")
FUNCTION(short_move, "leaq region_free(%rip), %rbx\nmovl %ebx, %edi\n" START, "")
FUNCTION(behind_a_call, FREE "call omp_get_thread_num@PLT\n" START, "")
FUNCTION(by_a_table,
	 FREE "leaq 2f(%rip), %rax\nmovslq (%rax,%rsi,4), %rcx\naddq %rax, %rcx\n"
	      "jmp *%rcx\n2: .long 3f-2b, 4f-2b\n3: " BOUND "4: " START,
	 "")
FUNCTION(two_entries, "testl %esi, %esi\nje 2f\n1: decl %esi\n2: decl %ebp\njne 1b\n" FREE START,
	 "")
FUNCTION(jumps, FREE "xorl %edx, %edx\njmp GOMP_parallel@PLT\n", "")

static struct mal_sites sites;

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1;
}

static enum mal_proof proof_at(const char *where)
{
	uintptr_t base;

	dl_iterate_phdr(find_base, &base);
	for (size_t i = 0; i < sites.count; i++)
		if (sites.sites[i].address == (uintptr_t)where - base)
			return sites.sites[i].proof;
	return MAL_PROOF_BOUND;
}

static void inspect(uint64_t deadline_ns)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct mal_error err;
	struct stat status;
	uint8_t *bytes;

	assert_int_equal(fstat(fd, &status), 0);
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(bytes, MAP_FAILED);
	close(fd);
	assert_int_equal(
		mal_inspect_sites(bytes, (size_t)status.st_size, deadline_ns, &sites, &err), 0);
	munmap(bytes, (size_t)status.st_size);
	assert_null(sites.trouble);
}

static void sure_ones(void **state)
{
	(void)state;
	inspect(UINT64_MAX);
	assert_int_equal(proof_at(plain_after), MAL_PROOF_FREE);
	assert_int_equal(proof_at(either_free_after), MAL_PROOF_FREE);
	assert_int_equal(proof_at(again_after), MAL_PROOF_FREE);
	assert_int_equal(proof_at(two_entries_after), MAL_PROOF_FREE);

	assert_int_equal(proof_at(plain_bound_after), MAL_PROOF_BOUND);
	mal_sites_free(&sites);
}

/* Whatever else may lead to the call, or change what it is given. */
static void others(void **state)
{
	static const char *const after[] = {
		either_after,	   again_other_after,	entered_after,
		from_memory_after, in_part_after,	perhaps_after,
		short_move_after,  behind_a_call_after, by_a_table_after};

	(void)state;
	inspect(UINT64_MAX);
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
		if (proof_at(after[i]) != MAL_PROOF_BOUND)
			fail_msg("call %zu is not bound", i);
	/* These and the jump; no stub of the linker's. */
	assert_int_equal(sites.unknown, 10);
	assert_int_equal(sites.count, 5);
	mal_sites_free(&sites);
}

static void no_time(void **state)
{
	(void)state;
	inspect(mal_now_ns());
	assert_int_equal(proof_at(plain_after), MAL_PROOF_BOUND);
	assert_int_equal(sites.unknown, 15);
	assert_int_equal(sites.count, 0);
	mal_sites_free(&sites);
}

#endif

static void no_program(void **state)
{
	static const uint8_t text[128] = "#!/bin/sh\n";
	struct mal_sites none;
	struct mal_error err;

	(void)state;
	if (mal_inspect_sites(text, sizeof(text), UINT64_MAX, &none, &err) == 0)
		assert_string_equal(none.trouble, "built without Zydis");
	else
		assert_string_equal(err.text, "no ELF file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(HAVE_ZYDIS) && defined(__x86_64__)
		cmocka_unit_test(sure_ones),
		cmocka_unit_test(others),
		cmocka_unit_test(no_time),
#endif
		cmocka_unit_test(no_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
