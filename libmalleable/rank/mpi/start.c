/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start.c: MPI starts: identify the library and its world.
 *
 * Invariant: a program may start MPI in any way (t/t2010-compatibility.t).
 */
#include "libmalleable/rank/mpi/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "libmalleable/rank/mpi/library.h"
#include "libmalleable/rank/mpi/next.h"
#include "libmalleable/rank/wait.h"

/* Set by Open MPI's launchers if there are more ranks than CPUs: then it yields by itself. */
#define OVERSUBSCRIBED "OMPI_MCA_mpi_oversubscribe"
#define WORLD_SET "mpi://WORLD"

/*
 * How to make Open MPI and Intel MPI call sched_yield() between polls; other libraries ignore
 * these.
 */
enum { OPEN_MPI, INTEL_MPI };
static struct {
	const char *name, *value;
	bool wanted; /* by the user or the launcher, not just by us */
} yields[] = {[OPEN_MPI] = {"OMPI_MCA_mpi_yield_when_idle", "1", false},
	      [INTEL_MPI] = {"I_MPI_THREAD_YIELD", "2", false}};

size_t mal_mpi_handle_size = sizeof(mpi_word);

static struct {
	struct mal_mpi_library library;
	bool known;	       /* the library was identified */
	mpi_word handle_mask;  /* the upper half of a word that holds an int may have any value */
	mpi_word world_handle; /* MPI_COMM_WORLD; no valid handle until that may be used */
	bool has_world; /* MPI_COMM_WORLD may be used: after MPI_Init, not with sessions alone */
	int size;	/* of the world */
	int (*comm_size)(mpi_word, int *); /* NULL: do not ask */
	mpi_word (*comm_f2c)(int);	   /* Open MPI */
	int (*iprobe)(int, int, mpi_word, int *, void *);
} mpi = {.world_handle = 1};

static void get_to_know(void)
{
	if (mpi.known)
		return;
	mpi.known = true;
	mal_mpi_look_at_library(&mpi.library);
	if (mpi.library.kind == MAL_MPI_UNKNOWN) {
		if (mal_mpi_may_tell())
			fprintf(stderr,
				"balance: unknown MPI library (%s): its handles are not read, so "
				"its collective calls mark no phases\n",
				mpi.library.name);
		return;
	}
	if (mpi.library.kind == MAL_MPI_MPICH)
		mal_mpi_handle_size = sizeof(int);
	if (mpi.library.kind == MAL_MPI_OPEN)
		*(void **)&mpi.comm_f2c = mal_mpi_next("PMPI_Comm_f2c");
	*(void **)&mpi.iprobe = mal_mpi_next("PMPI_Iprobe");
	*(void **)&mpi.comm_size = mal_mpi_next("PMPI_Comm_size");
}

static inline __attribute__((no_stack_protector)) int size_of(mpi_word comm)
{
	int size = 0;

	return mpi.comm_size && mpi.comm_size(comm, &size) == 0 ? size : 0;
}

/*
 * Whether COMM has as many processes as the world. Not inlined, so that MPI_COMM_WORLD itself costs
 * one comparison; without a stack protector, as it is in every collective call.
 */
__attribute__((noinline, no_stack_protector)) static bool is_as_large_as_world(mpi_word comm)
{
	return mpi.size && size_of(comm) == mpi.size;
}

bool mal_mpi_is_world(mpi_word comm)
{
	return (comm & mpi.handle_mask) == mpi.world_handle || is_as_large_as_world(comm);
}

bool mal_mpi_is_world_fortran(const int *comm)
{
	if (mpi.has_world && *comm == mpi.library.fortran_world)
		return true;
	if (mpi.library.kind == MAL_MPI_OPEN)
		return mal_mpi_is_world(mpi.comm_f2c(*comm));
	return mpi.library.kind == MAL_MPI_MPICH && mal_mpi_is_world((mpi_word)*comm);
}

/* Probe for a message from rank 0 with tag 0: valid in every world, and receives nothing. */
void mal_mpi_progress(void)
{
	uint64_t status[16];
	int found;

	if (mpi.has_world)
		mpi.iprobe(0, 0, mpi.library.world, &found, status);
}

void mal_mpi_pass_boundary(void)
{
	mal_mpi_enter(true);
	mal_mpi_leave(true);
}

/* Whether the environment switches PARAMETER on, as Open MPI reads truth values. */
static bool is_on(const char *parameter)
{
	const char *value = getenv(parameter);

	return value && (atoi(value) != 0 || strcasecmp(value, "true") == 0 ||
			 strcasecmp(value, "yes") == 0 || strcasecmp(value, "enabled") == 0 ||
			 strcasecmp(value, "t") == 0);
}

void mal_mpi_before_init(void)
{
	static bool once;

	if (once)
		return;
	once = true;
	if (!mal_mpi_is_inside())
		return;
	for (size_t i = 0; i < sizeof(yields) / sizeof(yields[0]); i++) {
		yields[i].wanted =
			getenv(yields[i].name) || (i == OPEN_MPI && is_on(OVERSUBSCRIBED));
		setenv(yields[i].name, yields[i].value, 0);
	}
}

/*
 * Which polls of the library we see. Yields that we caused are skipped, those that the program
 * asked for are made.
 */
static enum mal_mpi_polling polling(void)
{
	bool yields_here = mpi.library.kind == MAL_MPI_OPEN || mpi.library.intel;
	size_t which = mpi.library.kind == MAL_MPI_OPEN ? OPEN_MPI : INTEL_MPI;
	const char *value = getenv(yields[which].name);

	/* Intel MPI's other ways to yield call nothing. */
	if (which == OPEN_MPI ? is_on(yields[which].name)
			      : value && strcmp(value, yields[which].value) == 0)
		if (yields_here)
			return yields[which].wanted ? MAL_MPI_POLLS_YIELD_WANTED
						    : MAL_MPI_POLLS_YIELD;
	return mpi.library.over_ucx && mal_mpi_find("ucp_worker_progress") ? MAL_MPI_POLLS_SEEN
									   : MAL_MPI_POLLS_HIDDEN;
}

void mal_mpi_after_init(void)
{
	if (!mal_mpi_is_inside())
		return;
	get_to_know();
	mpi.has_world = mpi.library.kind != MAL_MPI_UNKNOWN;
	if (mpi.has_world) {
		mpi.handle_mask = mpi.library.kind == MAL_MPI_MPICH ? UINT32_MAX : UINTPTR_MAX;
		mpi.world_handle = mpi.library.world;
		mpi.size = size_of(mpi.library.world);
	}
	mal_mpi_init(polling());
}

/*
 * The number of processes in the world, without MPI_COMM_WORLD, which a program of sessions alone
 * must not use.
 */
static int ask_session(mpi_word session)
{
	int (*from_set)(mpi_word, const char *, mpi_word *), (*size_of_group)(mpi_word, int *),
		(*free_group)(mpi_word *);
	mpi_word group = 0;
	int size = 0;

	*(void **)&from_set = mal_mpi_find("PMPI_Group_from_session_pset");
	*(void **)&size_of_group = mal_mpi_find("PMPI_Group_size");
	*(void **)&free_group = mal_mpi_find("PMPI_Group_free");
	if (!from_set || !size_of_group || !free_group || from_set(session, WORLD_SET, &group) != 0)
		return 0;
	if (size_of_group(group, &size) != 0)
		size = 0;
	free_group(&group);
	return size;
}

void mal_mpi_after_session_init(const void *session)
{
	mpi_word word = 0;

	if (!mal_mpi_is_inside())
		return;
	get_to_know();
	if (mpi.library.kind != MAL_MPI_UNKNOWN) {
		memcpy(&word, session, mal_mpi_handle_size);
		if (!mpi.has_world)
			mpi.size = ask_session(word);
	}
	mal_mpi_init(polling());
}

void mal_mpi_after_session_init_fortran(const int *session)
{
	mpi_word (*session_f2c)(int), word = (mpi_word)*session;

	if (!mal_mpi_is_inside())
		return;
	get_to_know();
	if (mpi.library.kind == MAL_MPI_OPEN) {
		*(void **)&session_f2c = mal_mpi_find("PMPI_Session_f2c");
		word = session_f2c ? session_f2c(*session) : 0;
	}
	if (word)
		mal_mpi_after_session_init(&word);
}
