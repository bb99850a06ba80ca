/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * beside.c: preloaded, has a shell run $AS_ROOT beside a process that is about to give up root, and
 * $AS_USER beside one that has just done so. $PPID is that process.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void run(const char *name)
{
	const char *command = getenv(name);

	if (command && system(command) < 0)
		abort();
}

pid_t setsid(void)
{
	run("AS_ROOT");
	return (pid_t)syscall(SYS_setsid);
}

int prctl(int option, ...)
{
	unsigned long arguments[4];
	va_list list;
	long result;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		arguments[i] = va_arg(list, unsigned long);
	va_end(list);
	result = syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]);
	if (option == PR_SET_NO_NEW_PRIVS)
		run("AS_USER");
	return (int)result;
}
