/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_runtime.c: which runtime a caller uses, in a process of many objects that are made up. */
#include "t/unit/unit.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "libmalleable/rank/program/runtime.h"

/* Objects, each of one page, and a runtime; this program is not among them. */
#define OBJECTS 500
#define OBJECT 0x1000
#define FIRST ((uintptr_t)1 << 40)

static unsigned int walks, reads;
static char runtime_base, our_base;

int __wrap_dl_iterate_phdr(int (*look)(struct dl_phdr_info *, size_t, void *), void *data);
int __wrap_dladdr(const void *address, Dl_info *info);
void *__wrap_dlsym(void *scope, const char *name);
void *__wrap_dlopen(const char *name, int flags);

int __wrap_dl_iterate_phdr(int (*look)(struct dl_phdr_info *, size_t, void *), void *data)
{
	ElfW(Phdr) part = {.p_type = PT_LOAD, .p_memsz = OBJECT};
	struct dl_phdr_info info = {.dlpi_name = "", .dlpi_phdr = &part, .dlpi_phnum = 1};
	int found = 0;

	walks++;
	for (uintptr_t i = 0; i < OBJECTS && !found; i++) {
		info.dlpi_addr = FIRST + i * OBJECT;
		found = look(&info, sizeof(info), data);
	}
	return found;
}

static int answer(void)
{
	return 5;
}

int __wrap_dladdr(const void *address, Dl_info *info)
{
	info->dli_fbase = address == (const void *)answer ? &runtime_base : &our_base;
	info->dli_fname = "runtime";
	return 1;
}

void *__wrap_dlsym(void *scope, const char *name)
{
	(void)scope;
	reads += strcmp(name, "omp_get_schedule") == 0;
	return (void *)answer;
}

void *__wrap_dlopen(const char *name, int flags)
{
	(void)name, (void)flags;
	return &runtime_base;
}

static const struct mal_runtime *runtime_of(unsigned int object)
{
	return mal_runtime_of((const void *)(FIRST + object * OBJECT + 100));
}

/* Each object is looked for once, however many there are, and the runtime is read once. */
static void each_object_is_looked_for_once(void **state)
{
	const struct mal_runtime *runtime;

	(void)state;
	runtime = runtime_of(0);
	assert_non_null(runtime);
	assert_int_equal(runtime->get_max_threads(), 5);
	for (unsigned int again = 0; again < 3; again++)
		for (unsigned int i = 0; i < OBJECTS; i++)
			assert_ptr_equal(runtime_of(i)->base, runtime->base);
	assert_int_equal(walks, OBJECTS);
	assert_int_equal(reads, 1);
	assert_null(runtime_of(OBJECTS));
	assert_int_equal(walks, OBJECTS + 1);
}

/* The first one that asks is managed, and no other after it. */
static void manages_one(void **state)
{
	(void)state;
	assert_null(mal_runtime_managed()->base);
	for (int i = 0; i < 2; i++) {
		assert_true(mal_runtime_manage((const void *)answer));
		assert_false(mal_runtime_manage(&our_base));
	}
	assert_ptr_equal(mal_runtime_managed()->base, &runtime_base);
	assert_int_equal(mal_runtime_managed()->get_max_threads(), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_object_is_looked_for_once),
		cmocka_unit_test(manages_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
