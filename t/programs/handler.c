/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * handler.c: a signal handler on a stack of its own, of 8 KiB, as SIGSTKSZ was, starts a program in
 * its child process, as those of crash reporters do. Below that stack no memory is there. An
 * argument is a command that is run before.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK 8192
#define GUARD 65536

static int started;

static void handle(int number)
{
	pid_t pid = fork();

	(void)number;
	if (pid == 0) {
		execlp("echo", "echo", "started from a handler", NULL);
		_exit(127);
	}
	waitpid(pid, &started, 0);
}

int main(int argc, char **argv)
{
	char *memory = mmap(NULL, GUARD + STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_sp = memory + GUARD, .ss_size = STACK};
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

	if (argc > 1 && system(argv[1]))
		return 1;
	if (memory == MAP_FAILED || mprotect(memory + GUARD, STACK, PROT_READ | PROT_WRITE) ||
	    sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL) || raise(SIGUSR1))
		return 1;
	printf("status %x\n", (unsigned int)started);
	return started != 0;
}
