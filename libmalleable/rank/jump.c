/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jump.c: notice longjmp() out of MPI, and out of functions of the program that we call.
 *
 * Invariant: a thread that jumped out of MPI is in no call (t/unit/test_team.c:
 * jumps_leave_the_call; t/t2009-decisions.t).
 */
#include "libmalleable/rank/jump.h"

/* With it <setjmp.h> maps all of these functions to one name. */
#include <features.h>
#undef __USE_FORTIFY_LEVEL
#define __USE_FORTIFY_LEVEL 0
#include <dlfcn.h>
#include <setjmp.h>

#include "libmalleable/rank/asleep.h"
#include "libmalleable/rank/cpus/lock.h"
#include "libmalleable/rank/listeners.h"
#include "libmalleable/rank/mpi_test_loops.h"
#include "libmalleable/rank/state/rank.h"
#include "libmalleable/rank/wait.h"

typedef void jump_function(struct __jmp_buf_tag *, int);

_Noreturn void __longjmp_chk(struct __jmp_buf_tag to[1], int value);

static jump_function *next[4];
static const char *const names[4] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"};

void mal_jump_open(void)
{
	for (unsigned int i = 0; i < 4; i++)
		*(void **)&next[i] = dlsym(RTLD_NEXT, names[i]);
}

_Noreturn static void jump(unsigned int how, struct __jmp_buf_tag *to, int value)
{
	if (!next[how])
		mal_jump_open();
	mal_mpi_in_test = 0;
	if (mal_self.primary)
		mal_listeners_left();
	/* A signal's handler may jump out of anything. */
	mal_cpus_unlock(&mal, mal_self.tid && atomic_load(&mal.lock.holder) == mal_self.tid);
	if (mal_self.offers)
		mal_asleep_end(&mal);
	if (mal_self.mpi_depth)
		mal_mpi_unwound();
	next[how](to, value);
	__builtin_unreachable();
}

#define JUMPS(how, name) \
	_Noreturn void name(struct __jmp_buf_tag to[1], int value) \
	{ \
		jump(how, to, value); \
	}
JUMPS(0, longjmp)
JUMPS(1, _longjmp)
JUMPS(2, siglongjmp)
JUMPS(3, __longjmp_chk)
