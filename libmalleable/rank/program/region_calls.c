/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * region_calls.c: the runtimes' calls that open regions: each leaves the region's function and
 * jumps on to the runtime. Nothing on the stack moves, so the runtime sees its caller.
 *
 * Invariant: a region's call has all of its arguments, and the runtime sees who calls
 * (t/t2005-patterns.t).
 *
 * The code is assembler, as two of them have any number of arguments, and as it is on the path of
 * each region. Other machines have none of it: their code is not read, so no region is known.
 */
#include "libmalleable/rank/program/region_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmalleable/base/shown.h"
#include "libmalleable/rank/program/runtime.h"

__thread const void *mal_region_called;

#ifdef __x86_64__

/* Call NUMBER of the runtime that the region's object uses. */
__attribute__((used)) static void *find_call(unsigned int number)
{
	int saved = errno;
	const struct mal_runtime *runtime = mal_runtime_of(mal_region_called);

	if (!runtime || !runtime->region_calls[number]) {
		fprintf(stderr,
			"balance: the program calls %s, but no loaded OpenMP runtime has it\n",
			mal_region_call_names[number]);
		abort();
	}
	errno = saved;
	return runtime->region_calls[number];
}

/* Keeps all registers that may have arguments (System V ABI for x86-64, 3.2.3). */
__attribute__((naked, used)) static void find(void)
{
	__asm__("pushq %rbp\n\t"
		".cfi_adjust_cfa_offset 8\n\t"
		".cfi_rel_offset %rbp, 0\n\t"
		"movq %rsp, %rbp\n\t"
		".cfi_def_cfa_register %rbp\n\t"
		"pushq %rdi\n\tpushq %rsi\n\tpushq %rdx\n\tpushq %rcx\n\t"
		"pushq %r8\n\tpushq %r9\n\tpushq %rax\n\tpushq %r10\n\t"
		"subq $128, %rsp\n\t"
		"movups %xmm0, (%rsp)\n\tmovups %xmm1, 16(%rsp)\n\t"
		"movups %xmm2, 32(%rsp)\n\tmovups %xmm3, 48(%rsp)\n\t"
		"movups %xmm4, 64(%rsp)\n\tmovups %xmm5, 80(%rsp)\n\t"
		"movups %xmm6, 96(%rsp)\n\tmovups %xmm7, 112(%rsp)\n\t"
		"movl %r11d, %edi\n\t"
		"call find_call\n\t"
		"movq %rax, %r11\n\t"
		"movups (%rsp), %xmm0\n\tmovups 16(%rsp), %xmm1\n\t"
		"movups 32(%rsp), %xmm2\n\tmovups 48(%rsp), %xmm3\n\t"
		"movups 64(%rsp), %xmm4\n\tmovups 80(%rsp), %xmm5\n\t"
		"movups 96(%rsp), %xmm6\n\tmovups 112(%rsp), %xmm7\n\t"
		"addq $128, %rsp\n\t"
		"popq %r10\n\tpopq %rax\n\tpopq %r9\n\tpopq %r8\n\t"
		"popq %rcx\n\tpopq %rdx\n\tpopq %rsi\n\tpopq %rdi\n\t"
		"popq %rbp\n\t"
		".cfi_def_cfa %rsp, 8\n\t"
		"jmpq *%r11");
}

#define DEFINE(number, name, where) \
	__attribute__((naked)) void name(void) MAL_SHOWN(#name); \
	MAL_SHOWN_AS(#name, "VERSION"); \
	void name(void) \
	{ \
		__asm__("movq mal_region_called@gottpoff(%rip), %r11\n\t" \
			"movq %" where ", %fs:(%r11)\n\t" \
			"jmpq *next_call+8*" #number "(%rip)"); \
	} \
	__attribute__((naked)) static void find_##name(void) \
	{ \
		__asm__("movl $" #number ", %r11d\n\t" \
			"jmp find"); \
	}
/* The function is the third argument of LLVM's calls and the first of GCC's. */
#define DEFINE_LLVM(number, name) DEFINE(number, name, "rdx")
#define DEFINE_GCC(number, name, version) \
	DEFINE(number, name, "rdi") \
	MAL_SHOWN_AS_TOO(#name, version);
MAL_REGION_CALLS_LLVM(DEFINE_LLVM)
MAL_REGION_CALLS_GCC(DEFINE_GCC)

/*
 * Where each goes on. Libraries may have a runtime of their own, loaded privately (Python wheels):
 * it is looked for at each call, unless the process started with a runtime, which then serves all.
 */
#define NEXT(number, name, ...) [number] = (void *)find_##name,
__attribute__((used)) static void *next_call[MAL_REGION_CALL_COUNT] = {
	MAL_REGION_CALLS_LLVM(NEXT) MAL_REGION_CALLS_GCC(NEXT)};

void mal_region_calls_open(void)
{
	for (unsigned int i = 0; i < MAL_REGION_CALL_COUNT; i++) {
		void *next = dlsym(RTLD_NEXT, mal_region_call_names[i]);

		if (next)
			next_call[i] = next;
	}
}

#else

void mal_region_calls_open(void)
{
}

#endif
