/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * signals.c: threads that exist only because of us take no signals of the program's.
 *
 * Invariant: signals reach the threads that the program has without us (t/unit/test_threads.c:
 * extra_threads_take_no_signals).
 */
#include "libmalleable/rank/cpus/signals.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmalleable/base/input.h"
#include "libmalleable/base/symbols.h"
#include "libmalleable/rank/state/rank.h"

/* SIGCANCEL and SIGSETXID of glibc, as bits of SigBlk (proc(5)); how often to look again. */
#define GLIBCS_OWN (3ull << 31)
#define MOMENTS 1000

/* The calling thread exists only because of us: signals are for the threads of the program. */
static __thread bool extra __attribute__((tls_model("initial-exec")));

void mal_signals_block(sigset_t *before)
{
	static const int own[] = {SIGABRT, SIGBUS, SIGFPE,  SIGILL, SIGPIPE,
				  SIGSEGV, SIGSYS, SIGTRAP, SIGXFSZ};
	sigset_t others;

	sigfillset(&others);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&others, own[i]);
	pthread_sigmask(SIG_BLOCK, &others, before);
}

/* What the primary thread blocks at this moment. */
static unsigned long long read_blocked(const struct mal_rank *rank)
{
	char path[64], text[4096];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)rank->slot->pid,
		 (int)rank->primary.tid);
	mal_input_text(path, text, sizeof(text));
	line = strstr(text, "SigBlk:");
	return line ? strtoull(line + strlen("SigBlk:"), NULL, 16) : 0;
}

/*
 * glibc blocks all signals while it makes a thread, also its own ones, which a program cannot
 * block: then look again.
 */
void mal_signals_read(const struct mal_rank *rank, sigset_t *signals)
{
	unsigned long long bits = read_blocked(rank);

	for (int i = 0; i < MOMENTS && (bits & GLIBCS_OWN); i++) {
		syscall(SYS_sched_yield);
		bits = read_blocked(rank);
	}
	sigemptyset(signals);
	for (int number = 1; number <= 64; number++)
		if (bits >> (number - 1) & 1)
			sigaddset(signals, number);
}

void mal_signals_begin(bool is_extra)
{
	extra = is_extra;
}

bool mal_signals_are_hidden(void)
{
	return extra;
}

void mal_signals_show(const struct mal_rank *rank)
{
	sigset_t signals;

	if (!extra)
		return;
	mal_signals_read(rank, &signals);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

void mal_signals_hide(void)
{
	if (extra)
		mal_signals_block(NULL);
}

/* What a thread sends to itself is handled there, or waits in the thread that is the program's. */
int raise(int number)
{
	MAL_NEXT(raise);
	sigset_t signals;
	int result;

	if (!extra || !mal.active)
		return next(number);
	mal_signals_read(&mal, &signals);
	if (sigismember(&signals, number) == 1)
		return (int)syscall(SYS_tgkill, getpid(), mal.primary.tid, number);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
	result = next(number);
	mal_signals_hide();
	return result;
}

int pthread_kill(pthread_t thread, int number)
{
	MAL_NEXT(pthread_kill);

	if (number && extra && pthread_equal(thread, pthread_self()))
		return raise(number) ? errno : 0;
	return next(thread, number);
}
