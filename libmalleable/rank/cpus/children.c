/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * children.c: what the program sees of its CPUs, and which CPUs its child processes get, and the
 * threads that the C library makes for it.
 *
 * Invariant: a child process gets the CPUs of its rank, not the one of its creator
 * (t/unit/test_threads.c: children_get_all_cpus).
 *
 * The C library calls its own functions by internal names, so each function that starts a process
 * is interposed, and each that makes a thread.
 */
#include "libmalleable/rank/cpus/children.h"

#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

#include "libmalleable/base/symbols.h"
#include "libmalleable/core/skip_preload.h"
#include "libmalleable/core/starts.h"
#include "libmalleable/core/unloadable.h"
#include "libmalleable/rank/cpus/bind.h"
#include "libmalleable/rank/cpus/pins.h"
#include "libmalleable/rank/cpus/signals.h"
#include "libmalleable/rank/state/rank.h"

/* What a thread that forks would have without us: in the child nobody can be asked. */
static __thread struct mal_cpumask at_fork __attribute__((tls_model("initial-exec")));

/*
 * The CPUs that thread TID (0: the calling one), of the team, would have without us: those that the
 * program chose for it, or the user by variables of OpenMP, or else all of the rank's.
 */
static struct mal_cpumask unbalanced(struct mal_rank *rank, int32_t tid)
{
	struct mal_cpumask mask;

	if (mal_pins_find(rank, tid, &mask))
		return mask;
	if ((!tid || tid == mal_self.tid) && rank->team.place && rank->team.place(rank, &mask))
		return mask;
	return rank->home;
}

/* Whether the calling thread has the one CPU that we gave it. */
static bool is_bound(const struct mal_rank *rank)
{
	struct mal_cpumask mask;

	return mal_cpumask_get_affinity(0, &mask) == 0 && mal_bind_is_ours(rank, 0, &mask);
}

void mal_children_fork(void)
{
	if (!mal.active)
		return;
	mal_signals_show(&mal);
	if (is_bound(&mal))
		at_fork = unbalanced(&mal, 0);
}

void mal_children_fork_done(void)
{
	if (mal.active)
		mal_signals_hide();
}

void mal_children_forked(void)
{
	if (mal.active)
		mal_bind_widen(&mal, &at_fork);
}

/*
 * What the program of the file PATH gets as its environment, of which we are a part only where it
 * may need us and can load us. A file that is looked for in PATH would take a large buffer.
 */
#define HAND_ON(path, environment) \
	size_t skips = mal_skip_preload_room(path, environment); \
	size_t room = skips ? 0 : mal_unloadable_room(environment); \
\
	if (room) \
		environment = mal_unloadable_leave_out(environment, __builtin_alloca(room)); \
	if (skips) \
	environment = mal_skip_preload(environment, __builtin_alloca(skips))

/* The process that loaded this library, and no forked child of it; 0: not yet. */
static pid_t loaded;

void mal_children_count_load(void)
{
	loaded = getpid();
	mal_starts_open();
	mal_starts_count(MAL_START_LOADED, 1);
}

static int hides_mpi(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *name = strrchr(info->dlpi_name, '/');

	(void)size;
	(void)data;
	return name && strncmp(name, "/libmpi", strlen("/libmpi")) == 0;
}

/* Where a rank came nobody asks for the counts. */
__attribute__((destructor)) static void count_end(void)
{
	if (mal.active || getpid() != loaded)
		return;
	if (dl_iterate_phdr(hides_mpi, NULL))
		mal_starts_count(MAL_START_HID_MPI, 1);
	mal_starts_count(MAL_START_ENDED, 1);
}

/*
 * A program is executed in place of this one, or BY is -1: it could not be. NEEDLESS: it does not
 * load this library.
 */
static void count_exec(int by, bool skips)
{
	mal_starts_count(MAL_START_BEGUN, skips ? 0 : by);
	if (getpid() == loaded)
		mal_starts_count(MAL_START_ENDED, by);
}

static bool widen(struct mal_rank *rank)
{
	struct mal_cpumask wanted;

	if (!rank->active)
		return false;
	mal_signals_show(rank);
	if (rank->observe || !is_bound(rank))
		return false;
	wanted = unbalanced(rank, 0);
	return mal_bind_widen(rank, &wanted);
}

/* Keeps errno as the call in between has set it. */
static void narrow(const struct mal_rank *rank, bool widened)
{
	int saved = errno;

	if (rank->active)
		mal_signals_hide();
	if (widened && rank->active)
		mal_bind_narrow(rank);
	errno = saved;
}

/* Replace what we gave thread TID by what it would have without us. */
static void show_unbalanced(struct mal_rank *rank, int32_t tid, size_t size, cpu_set_t *set)
{
	struct mal_cpumask mask;
	bool ours;

	if (!rank->active || rank->observe)
		return;
	mask = mal_pins_mask(rank, size, set);
	ours = mal_bind_is_ours(rank, tid, &mask);
	if ((!ours && !mal_pins_gave(rank, tid, &mask)) || mal_pins_has(rank, tid, &mask))
		return;
	mask = ours ? unbalanced(rank, tid) : rank->home;
	CPU_ZERO_S(size, set);
	for (unsigned int cpu = 0;
	     (cpu = mal_cpumask_next(&mask, cpu)) < MAL_MAX_CPUS && cpu < 8 * size; cpu++)
		CPU_SET_S(cpu, size, set);
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	MAL_NEXT(sched_getaffinity);
	int result = next(pid, size, set);

	if (result == 0)
		show_unbalanced(&mal, pid, size, set);
	return result;
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
	MAL_NEXT(pthread_getaffinity_np);
	int result = next(thread, size, set);

	if (result == 0 && mal.active)
		show_unbalanced(&mal,
				pthread_equal(thread, pthread_self()) ? 0 : mal_pins_number(thread),
				size, set);
	return result;
}

/* The C library reads its threads' CPUs by an internal name. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
	MAL_NEXT(pthread_getattr_np);
	int result = next(thread, attributes);
	cpu_set_t set;

	if (result == 0 && mal.active && !mal.observe &&
	    pthread_getaffinity_np(thread, sizeof(set), &set) == 0)
		pthread_attr_setaffinity_np(attributes, sizeof(set), &set);
	return result;
}

int system(const char *command)
{
	MAL_NEXT(system);
	mal_unloadable_clean_up();
	bool widened = widen(&mal);
	mal_starts_count(MAL_START_BEGUN, command != NULL);
	int result = next(command);

	narrow(&mal, widened);
	return result;
}

FILE *popen(const char *command, const char *mode)
{
	MAL_NEXT(popen);
	mal_unloadable_clean_up();
	bool widened = widen(&mal);
	mal_starts_count(MAL_START_BEGUN, 1);
	FILE *result = next(command, mode);

	narrow(&mal, widened);
	return result;
}

int wordexp(const char *words, wordexp_t *expanded, int flags)
{
	MAL_NEXT(wordexp);
	mal_unloadable_clean_up();
	bool widened = widen(&mal);
	int result = next(words, expanded, flags);

	narrow(&mal, widened);
	return result;
}

#define SPAWNS(name, path) \
	int name(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, \
		 const posix_spawnattr_t *attributes, char *const *arguments, \
		 char *const *environment) \
	{ \
		MAL_NEXT(name); \
		HAND_ON(path, environment); \
		bool widened = widen(&mal); \
		int result = next(pid, file, actions, attributes, arguments, environment); \
\
		mal_starts_count(MAL_START_BEGUN, result == 0 && !skips); \
		narrow(&mal, widened); \
		return result; \
	}
SPAWNS(posix_spawn, file)
SPAWNS(posix_spawnp, "")

/* A function that makes threads which inherit the CPUs of the calling one, if WHEN. */
#define MAKES_THREADS(name, when, parameters, arguments) \
	int name parameters \
	{ \
		MAL_NEXT(name); \
		bool widened, makes = when; \
\
		if (!makes) \
			return next arguments; \
		widened = widen(&mal); \
		int result = next arguments; \
\
		narrow(&mal, widened); \
		return result; \
	}
MAKES_THREADS(timer_create, event && event->sigev_notify == SIGEV_THREAD,
	      (clockid_t clock, struct sigevent *event, timer_t *timer), (clock, event, timer))
MAKES_THREADS(mq_notify, event && event->sigev_notify == SIGEV_THREAD,
	      (mqd_t queue, const struct sigevent *event), (queue, event))
MAKES_THREADS(aio_read, true, (struct aiocb * what), (what))
MAKES_THREADS(aio_read64, true, (struct aiocb64 * what), (what))
MAKES_THREADS(aio_write, true, (struct aiocb * what), (what))
MAKES_THREADS(aio_write64, true, (struct aiocb64 * what), (what))
MAKES_THREADS(aio_fsync, true, (int operation, struct aiocb *what), (operation, what))
MAKES_THREADS(aio_fsync64, true, (int operation, struct aiocb64 *what), (operation, what))
MAKES_THREADS(lio_listio, true,
	      (int mode, struct aiocb *const *list, int count, struct sigevent *event),
	      (mode, list, count, event))
MAKES_THREADS(lio_listio64, true,
	      (int mode, struct aiocb64 *const *list, int count, struct sigevent *event),
	      (mode, list, count, event))
MAKES_THREADS(getaddrinfo_a, true,
	      (int mode, struct gaicb **list, int count, struct sigevent *event),
	      (mode, list, count, event))

static __typeof__(execve) *next_execve;
static __typeof__(execvpe) *next_execvpe;
static __typeof__(fexecve) *next_fexecve;

void mal_children_open(void)
{
	*(void **)&next_execve = dlsym(RTLD_NEXT, "execve");
	*(void **)&next_execvpe = dlsym(RTLD_NEXT, "execvpe");
	*(void **)&next_fexecve = dlsym(RTLD_NEXT, "fexecve");
}

/*
 * In a child of vfork() too: it has the one CPU of the thread that created it, and shares our
 * memory.
 */
#define EXECUTES(name, type, path) \
	int name(type file, char *const *arguments, char *const *environment) \
	{ \
		if (!next_##name) \
			mal_children_open(); \
		HAND_ON(path, environment); \
		bool widened = widen(&mal); \
		count_exec(1, skips); \
		int result = next_##name(file, arguments, environment); \
\
		count_exec(-1, skips); \
		if (mal.active && getpid() == mal.slot->pid) \
			narrow(&mal, widened); \
		return result; \
	}
EXECUTES(execve, const char *, file)
EXECUTES(fexecve, int, "")
EXECUTES(execvpe, const char *, "")

int execv(const char *path, char *const *arguments)
{
	return execve(path, arguments, environ);
}

int execvp(const char *file, char *const *arguments)
{
	return execvpe(file, arguments, environ);
}

/*
 * Store the arguments from FIRST up to the null pointer in ARGUMENTS, unless that is NULL. Returns
 * their number.
 */
static size_t collect(const char *first, va_list *rest, const char **arguments)
{
	size_t count = 0;

	for (const char *argument = first; argument; argument = va_arg(*rest, const char *)) {
		if (arguments)
			arguments[count] = argument;
		count++;
	}
	if (arguments)
		arguments[count] = NULL;
	return count;
}

/* A forked child must not allocate memory: the list is on the stack. */
#define LISTED(first, call) \
	va_list counted, rest; \
	va_start(counted, first); \
	va_copy(rest, counted); \
	size_t count = collect(first, &counted, NULL); \
	const char **listed = __builtin_alloca((count + 1) * sizeof(*listed)); \
	collect(first, &rest, listed); \
	va_end(counted); \
	char *const *arguments = (char *const *)listed; \
	int result = call; \
	va_end(rest); \
	return result

int execl(const char *path, const char *first, ...)
{
	LISTED(first, execv(path, arguments));
}

int execlp(const char *file, const char *first, ...)
{
	LISTED(first, execvp(file, arguments));
}

/* The environment follows the null pointer that collect() has just read. */
int execle(const char *path, const char *first, ...)
{
	LISTED(first, execve(path, arguments, va_arg(rest, char *const *)));
}
