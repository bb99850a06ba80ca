/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unready.c: a library that replaces functions of libc and the loader, and is ready only when
 * constructors run; one that calls it before ends the process. Built with -DPROGRAM, the program
 * that says when: its DT_PREINIT_ARRAY comes before all constructors but those of -z initfirst.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#ifdef PROGRAM

void unready_open(void) __attribute__((weak));

static void open_library(void)
{
	if (unready_open)
		unready_open();
}

__attribute__((section(".preinit_array"),
	       used)) static void (*const open_first)(void) = open_library;

int main(void)
{
	int sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < 100; i++)
		sum += i;
	printf("sum %d, library %s\n", sum, unready_open ? "there" : "absent");
	return 0;
}

#else

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* clang-format off */
#define FUNCTIONS(each) \
	each(access) each(asprintf) each(close) each(connect) each(dl_iterate_phdr) each(dladdr) \
	each(dlclose) each(dlinfo) each(dlopen) each(dlsym) each(execv) each(execve) each(fcntl) \
	each(fcntl64) each(fstat) each(fstatat) each(getauxval) each(getenv) each(getpid) \
	each(lstat) each(mmap) each(munmap) each(open) each(open64) each(openat) each(openat64) \
	each(prctl) each(pread) each(pread64) each(putenv) each(read) each(readlink) \
	each(readlinkat) each(sched_getaffinity) each(secure_getenv) each(setenv) each(snprintf) \
	each(socket) each(sscanf) each(__isoc99_sscanf) each(__isoc23_sscanf) \
	each(__asprintf_chk) each(__snprintf_chk) each(__vsnprintf_chk) each(stat) each(strdup) \
	each(syscall) each(unsetenv) each(vsnprintf) each(write)
/* clang-format on */

static long system_call(long number, long a, const void *b, size_t c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}

__attribute__((used)) static void die(const char *name)
{
	system_call(SYS_write, 2, "called too early: ", 18);
	system_call(SYS_write, 2, name, strlen(name));
	system_call(SYS_write, 2, "\n", 1);
	system_call(SYS_exit_group, 99, NULL, 0);
}

/* Jumps on, so that any arguments do. */
#define REPLACE(name) \
	static void *next_##name __attribute__((used)); \
	static const char text_##name[] __attribute__((used)) = #name; \
	__asm__(".globl " #name "\n\t.type " #name ", @function\n" #name ":\n\t" \
		"cmpq $0, next_" #name "(%rip)\n\tje 1f\n\t" \
		"jmpq *next_" #name "(%rip)\n" \
		"1:\n\tleaq text_" #name "(%rip), %rdi\n\tcall die\n");
FUNCTIONS(REPLACE)

void unready_open(void);

void unready_open(void)
{
	void *(*find)(void *, const char *);

	*(void **)&find = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!find)
		*(void **)&find = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
#define FIND(name) next_##name = find(RTLD_NEXT, #name);
	FUNCTIONS(FIND)
}

#endif
