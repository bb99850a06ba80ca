/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * malleable.h: what a program may tell the balancer. All of it is optional: programs are balanced
 * unchanged.
 *
 * Link with what pkg-config --libs malleable prints; or define MALLEABLE_DLOPEN before the header
 * is included: then each function is looked up at its first use, and the program starts where the
 * library is not installed. For C++ the end of this file has scopes.
 */
#ifndef MALLEABLE_H
#define MALLEABLE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. */
#define MALLEABLE_API 4

/*
 * What functions return below 0; nothing has changed then. Outside a balanced step all of them do
 * nothing and return 0. None is for signal handlers.
 */
enum malleable_error {
	MALLEABLE_E_INVALID = -1, /* an argument is out of range */
	MALLEABLE_E_THREAD = -2,  /* in a parallel region or MPI, or not the primary thread */
	MALLEABLE_E_REFUSED = -3, /* regions of the rank borrow by themselves (OMPT) */
	MALLEABLE_E_FULL = -4,	  /* there is no room for more */
	MALLEABLE_E_NESTING = -5, /* an end without a begin */
};

/* What a number below 0 means, in English, also outside a step. Never NULL. Thread safe. */
const char *malleable_error(int error);

/* MALLEABLE_API of the library that is there, also outside a step. Thread safe. */
int malleable_version(void);

/* What balancing does with this process now, bits; 0: nothing. Takes about 5 ns. Thread safe. */
enum malleable_state {
	MALLEABLE_RANK = 1,	 /* it is a rank of a balanced step */
	MALLEABLE_LENDS = 2,	 /* it lends and borrows */
	MALLEABLE_MOVES = 4,	 /* its threads are bound, and CPUs change owner by a plan */
	MALLEABLE_OBSERVED = 8,	 /* it is measured, and nothing is changed */
	MALLEABLE_DISABLED = 16, /* by malleable_disable() */
};
int malleable_state(void);

/*
 * Mark the end of a phase: one round of computing and exchanging, such as a time step. Call it on
 * every rank, on the thread that opens parallel regions and outside them, best after the exchange.
 * The rank's CPUs may change here. Without marks, and where they come no more, phases are found
 * from MPI collectives, repeating regions and other MPI calls. Does nothing outside a balanced
 * step, on other threads, and inside parallel regions. Takes about 10 ns.
 */
void malleable_phase(void);

/*
 * The same under SABO's name, for programs written for that library (its Sect. IV-D). There the
 * call exchanges loads by MPI; here it does not wait for other ranks.
 */
void omp_balanced(void);

/*
 * The number of CPUs that this rank may use now, including borrowed ones; 0 outside a balanced
 * step. Right from the first call on, which makes the process a rank. Size work by it in front of a
 * parallel region: a region that calls it is bound, that is, keeps its team. Thread safe.
 */
int malleable_cpus(void);

/* The number of CPUs that this rank owns, those that it lends included. Thread safe. */
int malleable_cpus_owned(void);

/*
 * Write the numbers of the CPUs that the rank may use now into CPUS, MAX at most: its own, then
 * borrowed ones, each in ascending order. Returns how many there are, which may be more than MAX.
 * Thread safe.
 */
int malleable_cpu_list(int *cpus, int max);

/*
 * A number that differs after others have changed the rank's CPUs, or its plan: for the idle loop
 * of a scheduler. It costs a load. Thread safe.
 */
unsigned int malleable_changes(void);

/*
 * Sleep until malleable_changes() is not SEEN, for TIMEOUT_MS milliseconds at most (below 0: to the
 * end of the step). Returns 1 if it has changed, else 0, also at once outside a step: for the
 * manager of a thread pool. The sleep lends nothing. Thread safe.
 */
int malleable_await_change(unsigned int seen, int timeout_ms);

/*
 * Between begin and end the calling thread waits outside MPI: for a file, a socket, a device, a
 * child, another thread. After 150 us its rank lends its CPUs, if no other of its threads runs;
 * they are back at the end, without the borrower's help. HOW: it sleeps in the kernel
 * (MALLEABLE_WAIT_BLOCKS), or it polls and keeps its CPU (MALLEABLE_WAIT_POLLS). MPI calls in
 * between are part of the wait; longjmp() ends it, and the thread's end. An exception does not:
 * see malleable::waiting. Pairs nest in each thread: only the outermost counts. A forked child is
 * in no wait. Not in a parallel region or a call of MPI.
 *
 * On the primary thread (that opens regions and calls MPI) a parallel region ends the wait, and the
 * report has its time as time in MPI. On any other thread the rank lends once all threads of the
 * process sleep, none if the thread polls, and the CPUs are back when the primary thread begins a
 * region or a call of MPI, too. Where another thread computes again that is noticed within 2 ms.
 *
 * begin returns how many CPUs the rank lends if the wait is long; 0 also where it may lend none.
 * A short wait behind short ones takes about 100 instructions in all.
 */
enum malleable_wait { MALLEABLE_WAIT_BLOCKS, MALLEABLE_WAIT_POLLS };
int malleable_waiting_begin(int how);
int malleable_waiting_end(void);

/*
 * The rank has work for MOST CPUs in all, its own included, from now on: it takes free ones at
 * once, the nearest first, and others as ranks wait (see malleable_changes()). 0 or 1: no more than
 * its own, but what it has borrowed stays. All threads of the process may run on all of its CPUs;
 * they leave one that its owner takes back without their help. What the primary thread borrows a
 * blocking call of MPI returns; what another one borrows goes back when the rank lends its own, as
 * all its threads sleep. For ranks without OpenMP, or whose runtime has no OMPT
 * (MALLEABLE_E_REFUSED). On any thread outside regions, MPI and its own waits; the last call
 * counts. Returns malleable_cpus().
 */
#define MALLEABLE_ALL INT_MAX
int malleable_borrow(int most);

/*
 * The rank needs KEEP CPUs at most from now on: return borrowed ones beyond that, the last borrowed
 * first. 0: all of them; its own stay. Otherwise as malleable_borrow().
 */
int malleable_return(int keep);

/*
 * The rank can use MOST CPUs at most, its own included, until it declares another number; 0: any
 * number. From its next region on its teams that balancing sizes have no more threads, it borrows
 * no more, and policies give what it has beyond that to other ranks. Borrowed CPUs beyond it go
 * back at once. On the primary thread outside regions and MPI. Returns malleable_cpus().
 */
int malleable_limit(int most);

/*
 * Between these the rank neither lends nor borrows, and gives no CPU away: a section that is timed.
 * What it has borrowed goes back at disable; CPUs that others give it meanwhile it takes after the
 * section. Pairs nest. On the primary thread outside regions, MPI and waits.
 */
int malleable_disable(void);
int malleable_enable(void);

/*
 * FUNCTION is called with the number of CPUs that the rank may use (malleable_cpus()) and ARGUMENT
 * when that number has changed: in malleable_phase(), _poll(), _borrow(), _return(), _limit() and
 * _waiting_end(), on the thread that calls these, never in a parallel region, a signal or a thread
 * of the library. It may call all functions here. Up to 8 functions (MALLEABLE_E_FULL), in their
 * order; the pair is known once. The first call is in the first of these functions after. On the
 * primary thread outside regions.
 */
typedef void malleable_change_function(int cpus, void *argument);
int malleable_on_change(malleable_change_function *function, void *argument);
int malleable_on_change_remove(malleable_change_function *function, void *argument);

/* Call these functions if the number has changed. Returns malleable_cpus(). */
int malleable_poll(void);

/*
 * A named region is a part of the program, such as its solver: the report has its time and its
 * efficiency. NAME: 1 to 63 printable characters of ASCII, which are copied. Returns its number,
 * from 1 on, the same for the same name; MALLEABLE_E_FULL beyond 64 names. On the primary thread
 * outside parallel regions.
 */
int malleable_region(const char *name);

/*
 * REGION runs between these. Named regions nest, and may overlap: time counts for all that run. One
 * that runs may begin again: the outermost pair counts. An end of one that does not run is
 * MALLEABLE_E_NESTING. longjmp() and exceptions end none: see malleable::region. About 200
 * instructions each, and 6 for each thread of the team. On the primary thread outside parallel
 * regions, MPI and waits; on others they measure nothing (MALLEABLE_E_THREAD).
 */
int malleable_region_begin(int region);
int malleable_region_end(int region);

/*
 * What the rank did in a region so far, the run that lasts included; in nanoseconds. Begin with
 * {.size = sizeof(struct malleable_times)}: outside a balanced step nothing is written.
 */
struct malleable_times {
	size_t size;		   /* of this struct, which may grow at its end */
	uint64_t runs;		   /* that have begun */
	uint64_t elapsed;	   /* of it, serial and mpi are of the primary thread */
	uint64_t work;		   /* threads in parallel regions (of a runtime with OMPT) */
	uint64_t idle;		   /* threads in parallel regions without work, as at barriers */
	uint64_t serial;	   /* outside parallel regions and MPI */
	uint64_t mpi;		   /* in MPI, and in declared waits */
	uint64_t offered;	   /* of that, in declared waits */
	uint64_t parallel_regions; /* that ran */
};

/* REGION 0: what it did since it became a rank. Where begin and end are allowed. */
int malleable_region_times(int region, struct malleable_times *times);

#ifdef __cplusplus
}
#endif

#ifdef MALLEABLE_DLOPEN
#include <dlfcn.h>

/* NAME_found() is NAME() of the library, or returns OTHERWISE where there is none. */
#define MALLEABLE_LOOK(type, name, parameters) \
	static inline type(*name##_look(void)) parameters \
	{ \
		static char nothing; \
		static void *found = &nothing; \
		union { \
			void *address; \
			type(*function) parameters; \
		} it; \
\
		it.address = __atomic_load_n(&found, __ATOMIC_RELAXED); \
		if (it.address == &nothing) { \
			it.address = dlsym((void *)0, #name); /* RTLD_DEFAULT */ \
			__atomic_store_n(&found, it.address, __ATOMIC_RELAXED); \
		} \
		return it.function; \
	}
#define MALLEABLE_FOUND(type, name, parameters, arguments, otherwise) \
	MALLEABLE_LOOK(type, name, parameters) \
	static inline type name##_found parameters \
	{ \
		return name##_look() ? name##_look() arguments : otherwise; \
	}
#define MALLEABLE_MARK(name) \
	MALLEABLE_LOOK(void, name, (void)) \
	static inline void name##_found(void) \
	{ \
		if (name##_look()) \
			name##_look()(); \
	}
/* clang-format off */
MALLEABLE_MARK(malleable_phase)
MALLEABLE_MARK(omp_balanced)
MALLEABLE_FOUND(const char *, malleable_error, (int error), (error), "no library is there")
MALLEABLE_FOUND(int, malleable_version, (void), (), 0)
MALLEABLE_FOUND(int, malleable_state, (void), (), 0)
MALLEABLE_FOUND(int, malleable_cpus, (void), (), 0)
MALLEABLE_FOUND(int, malleable_cpus_owned, (void), (), 0)
MALLEABLE_FOUND(int, malleable_cpu_list, (int *cpus, int max), (cpus, max), 0)
MALLEABLE_FOUND(unsigned int, malleable_changes, (void), (), 0)
MALLEABLE_FOUND(int, malleable_await_change, (unsigned int seen, int timeout_ms),
		(seen, timeout_ms), 0)
MALLEABLE_FOUND(int, malleable_waiting_begin, (int how), (how), 0)
MALLEABLE_FOUND(int, malleable_waiting_end, (void), (), 0)
MALLEABLE_FOUND(int, malleable_borrow, (int most), (most), 0)
MALLEABLE_FOUND(int, malleable_return, (int keep), (keep), 0)
MALLEABLE_FOUND(int, malleable_limit, (int most), (most), 0)
MALLEABLE_FOUND(int, malleable_disable, (void), (), 0)
MALLEABLE_FOUND(int, malleable_enable, (void), (), 0)
MALLEABLE_FOUND(int, malleable_on_change, (malleable_change_function *function, void *argument),
		(function, argument), 0)
MALLEABLE_FOUND(int, malleable_on_change_remove,
		(malleable_change_function *function, void *argument), (function, argument), 0)
MALLEABLE_FOUND(int, malleable_poll, (void), (), 0)
MALLEABLE_FOUND(int, malleable_region, (const char *name), (name), 0)
MALLEABLE_FOUND(int, malleable_region_begin, (int region), (region), 0)
MALLEABLE_FOUND(int, malleable_region_end, (int region), (region), 0)
MALLEABLE_FOUND(int, malleable_region_times, (int region, struct malleable_times *times),
		(region, times), 0)
/* clang-format on */
#define malleable_phase malleable_phase_found
#define omp_balanced omp_balanced_found
#define malleable_error malleable_error_found
#define malleable_version malleable_version_found
#define malleable_state malleable_state_found
#define malleable_cpus malleable_cpus_found
#define malleable_cpus_owned malleable_cpus_owned_found
#define malleable_cpu_list malleable_cpu_list_found
#define malleable_changes malleable_changes_found
#define malleable_await_change malleable_await_change_found
#define malleable_waiting_begin malleable_waiting_begin_found
#define malleable_waiting_end malleable_waiting_end_found
#define malleable_borrow malleable_borrow_found
#define malleable_return malleable_return_found
#define malleable_limit malleable_limit_found
#define malleable_disable malleable_disable_found
#define malleable_enable malleable_enable_found
#define malleable_on_change malleable_on_change_found
#define malleable_on_change_remove malleable_on_change_remove_found
#define malleable_poll malleable_poll_found
#define malleable_region malleable_region_found
#define malleable_region_begin malleable_region_begin_found
#define malleable_region_end malleable_region_end_found
#define malleable_region_times malleable_region_times_found
#endif

#if defined(__cplusplus) && __cplusplus >= 201103L
namespace malleable
{
/* A wait that ends with its scope, also by an exception. */
class waiting
{
      public:
	explicit waiting(int how = MALLEABLE_WAIT_BLOCKS) : offered(malleable_waiting_begin(how))
	{
	}
	~waiting()
	{
		if (offered >= 0)
			malleable_waiting_end();
	}
	waiting(const waiting &) = delete;
	waiting &operator=(const waiting &) = delete;

      private:
	int offered;
};

/* So with CPUs of others: all of them go back at its end. */
class borrowing
{
      public:
	explicit borrowing(int most = MALLEABLE_ALL) : result(malleable_borrow(most))
	{
	}
	~borrowing()
	{
		if (result >= 0)
			malleable_return(0);
	}
	borrowing(const borrowing &) = delete;
	borrowing &operator=(const borrowing &) = delete;

      private:
	int result;
};

/* A run of a named region. */
class region
{
      public:
	explicit region(const char *name) : number(malleable_region(name))
	{
		if (number > 0 && malleable_region_begin(number) < 0)
			number = 0;
	}
	~region()
	{
		if (number > 0)
			malleable_region_end(number);
	}
	region(const region &) = delete;
	region &operator=(const region &) = delete;

      private:
	int number;
};
} // namespace malleable
#endif

#endif
