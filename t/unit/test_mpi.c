/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_mpi.c: the interposed MPI calls in front of an MPI library that is made of functions of
 * this file: what they pass on, what counts as a boundary, and what is known of the library.
 */
#include "t/unit/alone.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "libmalleable/rank/mpi/library.h"
#include "libmalleable/rank/mpi/next.h"
#include "libmalleable/rank/mpi/requests.h"
#include "libmalleable/rank/mpi/start.h"
#include "libmalleable/rank/mpi_test_loops.h"
#include "libmalleable/rank/ready.h"
#include "libmalleable/rank/wait.h"

#define MPICH_COMM_WORLD 0x44000000
#define STANDARD_COMM_WORLD 0x101

/* Every call of MPI, by its C form. Those of Fortran have the same words and more. */
typedef mpi_word any_call(mpi_word, mpi_word, mpi_word, mpi_word, mpi_word, mpi_word, mpi_word,
			  mpi_word, mpi_word, mpi_word, mpi_word, mpi_word, mpi_word);

#define DECLARE(name, fortran) \
	extern any_call MPI_##name, mpi_##fortran##_, mpi_##fortran##_f08_, mpi_##fortran##_f08ts_;
#define CALLS_FILE "libmalleable/rank/mpi/blocking_calls.h"
#define WAIT(name, fortran, ...) DO(name, fortran)
#define OVER(name, fortran, ...) DO(name, fortran)
#define TEXT(name, fortran, ...) DO(name, fortran)
#define TEST(name, fortran, ...) DO(name, fortran)
#define WAIT_ONE(name, fortran, ...) DO(name, fortran)
#define WAIT_MANY(name, fortran, ...) DO(name, fortran)
#define TEST_ONE(name, fortran, ...) DO(name, fortran)
#define TEST_MANY(name, fortran, ...) DO(name, fortran)
#define FREE(name, fortran, ...) DO(name, fortran)
#define START_ONE(name, fortran, ...) DO(name, fortran)
#define START_MANY(name, fortran, ...) DO(name, fortran)
#define BEGIN(name, fortran, ...) DO(name, fortran)
#define INIT(name, fortran, ...) DO(name, fortran)
#define DO(name, fortran) DECLARE(name, fortran)
#include CALLS_FILE
#undef DO
#define DO(name, fortran) \
	{"MPI_" #name, MPI_##name}, {"mpi_" #fortran "_", mpi_##fortran##_}, \
		{"mpi_" #fortran "_f08_", mpi_##fortran##_f08_}, \
		{"mpi_" #fortran "_f08ts_", mpi_##fortran##_f08ts_},
static const struct {
	const char *name;
	any_call *call;
} calls[] = {
#include CALLS_FILE
};
extern any_call MPI_Init, MPI_Init_thread, MPI_Finalize, MPI_Session_init, MPI_Session_finalize,
	MPI_T_init_thread, mpi_init_, mpi_init_thread_f08_, mpi_finalize_, mpi_session_init_,
	mpi_session_finalize_;
unsigned int ucp_worker_progress(void *worker);

/* What the rank library hears. */
static unsigned int entered, left, boundaries, tested, done, unwound, polled, finalized, probed;
#define NEVER ((enum mal_mpi_polling)(MAL_MPI_POLLS_SEEN + 1))
static enum mal_mpi_polling initialized;
__thread signed char mal_mpi_in_test;
static unsigned int timed;

void mal_mpi_test_begins(void)
{
	mal_mpi_in_test = 1;
	timed++;
}

void mal_mpi_enter(bool collective)
{
	(void)collective;
	entered++;
}

void mal_mpi_leave(bool boundary)
{
	left++;
	boundaries += boundary;
}

void mal_mpi_tested(bool came)
{
	tested++;
	done += came;
}

void mal_mpi_unwound(void)
{
	unwound++;
}

void mal_mpi_poll(void)
{
	polled++;
}

static bool outside;

bool mal_mpi_is_inside(void)
{
	return !outside;
}

bool mal_mpi_may_tell(void)
{
	return true;
}

void mal_mpi_init(enum mal_mpi_polling how)
{
	initialized = how;
}

void mal_mpi_ready(void)
{
}

void mal_mpi_finalize(void (*progress)(void))
{
	finalized++;
	mal_mpi_enter(true);
	progress();
}

void mal_mpi_finalized(void)
{
	finalized++;
	mal_mpi_leave(false);
}

/* The MPI library. */
static const char *version;
static const char *called; /* looked up last */
static unsigned int passed_on;
static bool has_abi, lacks, lacks_session_f2c;
static mpi_word arguments[13];
static uint64_t *completes; /* this request becomes a null handle in the next call */
static int world_size = 4;

static mpi_word take_call(mpi_word a0, mpi_word a1, mpi_word a2, mpi_word a3, mpi_word a4,
			  mpi_word a5, mpi_word a6, mpi_word a7, mpi_word a8, mpi_word a9,
			  mpi_word a10, mpi_word a11, mpi_word a12)
{
	const mpi_word all[] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12};

	memcpy(arguments, all, sizeof(all));
	passed_on++;
	if (completes)
		*completes = 0;
	completes = NULL;
	return 0;
}

static int get_library_version(char *text, int *length)
{
	strcpy(text, version);
	*length = (int)strlen(text);
	return 0;
}

static int get_abi_version(int *major, int *minor)
{
	*major = 1;
	*minor = 0;
	return 0;
}

static int get_comm_size(mpi_word comm, int *size)
{
	*size = comm == 77 ? 2 : world_size;
	return 0;
}

static mpi_word comm_from_fortran(int comm)
{
	return (mpi_word)comm;
}

static int probe(int source, int tag, mpi_word comm, int *found, void *status)
{
	(void)source, (void)tag, (void)comm, (void)status;
	*found = 0;
	probed++;
	return 0;
}

static int group_from_set(mpi_word session, const char *name, mpi_word *group)
{
	assert_string_equal(name, "mpi://WORLD");
	*group = session;
	return 0;
}

static int group_size(mpi_word group, int *size)
{
	(void)group;
	*size = world_size;
	return 0;
}

static int group_free(mpi_word *group)
{
	*group = 0;
	return 0;
}

static unsigned int ucx_progress(void *worker)
{
	(void)worker;
	return 3;
}

static char open_mpi_world[64];

void *__wrap_dlsym(void *scope, const char *name);
void *__wrap_dlopen(const char *name, int flags);

void *__wrap_dlsym(void *scope, const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} has[] = {{"PMPI_Get_library_version", (void *)get_library_version},
		   {"PMPI_Comm_size", (void *)get_comm_size},
		   {"PMPI_Comm_f2c", (void *)comm_from_fortran},
		   {"PMPI_Session_f2c", (void *)comm_from_fortran},
		   {"PMPI_Iprobe", (void *)probe},
		   {"PMPI_Group_from_session_pset", (void *)group_from_set},
		   {"PMPI_Group_size", (void *)group_size},
		   {"PMPI_Group_free", (void *)group_free},
		   {"ucp_worker_progress", (void *)ucx_progress}};

	(void)scope;
	called = name;
	if (lacks || (lacks_session_f2c && strcmp(name, "PMPI_Session_f2c") == 0))
		return NULL;
	if (strcmp(name, "MPI_Abi_get_version") == 0)
		return has_abi ? (void *)get_abi_version : NULL;
	if (strcmp(name, "ompi_mpi_comm_world") == 0)
		return strstr(version, "Open MPI") ? open_mpi_world : NULL;
	for (size_t i = 0; i < sizeof(has) / sizeof(has[0]); i++)
		if (strcmp(has[i].name, name) == 0)
			return has[i].function;
	return strncasecmp(name, "MPI_", 4) == 0 ? (void *)take_call : NULL;
}

void *__wrap_dlopen(const char *name, int flags)
{
	(void)name, (void)flags;
	return NULL;
}

static void start(const char *library)
{
	version = library;
	assert_int_equal(MPI_Init(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0);
}

#define OPEN "Open MPI v4.1.4, package: Debian"
#define MPICH "MPICH Version: 4.0.2\nMPICH Device: ch4:ucx"
#define INTEL "Intel(R) MPI Library 2021.19 for Linux* OS\n"

static mpi_word call(any_call *function, const mpi_word *a)
{
	return function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
			a[12]);
}

/*
 * Each call reaches the MPI library with the words that it was made with, and what was entered is
 * left.
 */
static void all_are_passed_on(void **state)
{
	static int zeros[64];
	mpi_word words[13];

	(void)state;
	start(OPEN);
	for (unsigned int i = 0; i < 13; i++)
		words[i] = (mpi_word)&zeros[i];
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		unsigned int before = passed_on;

		call(calls[i].call, words);
		assert_int_equal(passed_on, before + 1);
		assert_string_equal(called, calls[i].name);
		assert_int_equal(arguments[0], words[0]);
		assert_int_equal(entered, left);
		assert_false(mal_mpi_in_test);
		mal_mpi_open_requests = 0;
	}
	assert_true(entered > 100 && tested > 10);
	assert_int_equal(unwound, 0);
	assert_int_equal(done, 0);
	assert_int_equal(timed, 0);
	mal_mpi_in_test = -2;
	call(MPI_Iprobe, words);
	assert_int_equal(timed, 1);
	assert_int_equal(mal_mpi_in_test, 0);
}

/* In these neither Open MPI nor MPICH waits where tests run, but others may. */
static void seen_though_local(void **state)
{
	unsigned int before;

	(void)state;
	start(OPEN);
	before = entered;
	MPI_Comm_free(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	mpi_comm_free_(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(entered, before + 2);
	assert_int_equal(entered, left);
}

static mpi_word over(mpi_word comm)
{
	unsigned int before = boundaries;

	MPI_Barrier(comm, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	return boundaries - before;
}

/* Of collective calls those over as many ranks as there are in the world end phases. */
static void boundaries_of_open_mpi(void **state)
{
	int world = 0, small = 77;

	(void)state;
	start(OPEN);
	assert_int_equal(initialized, MAL_MPI_POLLS_YIELD);
	assert_int_equal(over((mpi_word)open_mpi_world), 1);
	assert_int_equal(over(5), 1);
	assert_int_equal(over(77), 0);
	mpi_barrier_((mpi_word)&world, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(boundaries, 3);
	mpi_barrier_((mpi_word)&small, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(boundaries, 3);
}

/* What is in a word beside the int is nothing. */
static void boundaries_of_mpich(void **state)
{
	int world = MPICH_COMM_WORLD;

	(void)state;
	start(MPICH);
	assert_int_equal(initialized, MAL_MPI_POLLS_SEEN);
	assert_int_equal(mal_mpi_handle_size, sizeof(int));
	world_size = 3;
	assert_int_equal(over(MPICH_COMM_WORLD | UINT64_C(1) << 40), 1);
	assert_int_equal(over(78), 0);
	mpi_barrier_((mpi_word)&world, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(boundaries, 2);
}

static void of_the_standard(void **state)
{
	(void)state;
	has_abi = true;
	start("Some MPI of the standard");
	assert_int_equal(over(STANDARD_COMM_WORLD), 1);
}

static void intel_mpi_is_told_to_yield(void **state)
{
	(void)state;
	start(INTEL);
	assert_int_equal(initialized, MAL_MPI_POLLS_YIELD);
	assert_string_equal(getenv("I_MPI_THREAD_YIELD"), "2");
}

/* The user has told Open MPI to yield. */
static void yields_that_the_user_wants_stay(void **state)
{
	(void)state;
	setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
	start(OPEN);
	assert_int_equal(initialized, MAL_MPI_POLLS_YIELD_WANTED);
}

static void unknown_libraries_are_named(void **state)
{
	struct mal_mpi_library library = {0};

	(void)state;
	start("Nobody knows me");
	assert_int_equal(over((mpi_word)open_mpi_world), 0);
	mal_mpi_look_at_library(&library);
	assert_int_equal(library.kind, MAL_MPI_UNKNOWN);
	assert_string_equal(library.name, "Nobody knows me");
	/* One that says nothing is named by its file: here, this program. */
	for (unsigned int i = 0; i < 3; i++) {
		version = (const char *[]){"", "\n", " , of stubs"}[i];
		mal_mpi_look_at_library(&library);
		assert_string_equal(library.name, program_invocation_short_name);
	}
}

/* A request of all ranks that has come ends a phase, whoever sees it, once. */
static void collective_requests_end_a_phase_once(void **state)
{
	uint64_t request = 9;
	int said = 1;
	mpi_word place = (mpi_word)&request, flag = (mpi_word)&said;

	(void)state;
	start(OPEN);
	MPI_Ibarrier(5, place, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(mal_mpi_open_requests, 1);
	MPI_Wait(place, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(boundaries, 0);
	completes = &request;
	MPI_Wait(place, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(boundaries, 1);
	assert_int_equal(mal_mpi_open_requests, 0);
	request = 10;
	MPI_Ibarrier(5, place, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	completes = &request;
	MPI_Test(place, flag, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(boundaries, 2);
	assert_int_equal(done, 1);
	request = 11;
	MPI_Ibarrier(77, place, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(mal_mpi_open_requests, 0);
	MPI_Ibarrier(5, place, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	MPI_Request_free(place, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(mal_mpi_open_requests, 0);
}

/* A persistent one comes each time that it was started. */
static void persistent_requests_come_each_time(void **state)
{
	uint64_t requests[2] = {12, 13};
	mpi_word first = (mpi_word)&requests[0], second = (mpi_word)&requests[1];

	(void)state;
	start(OPEN);
	MPI_Barrier_init(5, 0, first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	MPI_Barrier_init(5, 0, second, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	MPI_Wait(first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(boundaries, 0);
	for (unsigned int i = 1; i < 4; i++) {
		MPI_Startall(2, first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		MPI_Waitall(2, first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		assert_int_equal(boundaries, i);
	}
	MPI_Start(second, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	MPI_Waitall(2, first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(boundaries, 4);
}

/* More than are remembered: the others end no phase. */
static void requests_beyond_the_room_end_no_phase(void **state)
{
	uint64_t requests[20];

	(void)state;
	start(OPEN);
	for (unsigned int i = 0; i < 20; i++) {
		requests[i] = 100 + i;
		mal_mpi_began(&requests[i], sizeof(requests[i]), false);
	}
	assert_int_equal(mal_mpi_open_requests, 0xffff);
	assert_int_equal(mal_mpi_asks(&requests[16], 4, 8), 0);
	assert_int_equal(mal_mpi_asks(requests, 20, 8), 0xffff);
}

static void sessions_touch_no_world(void **state)
{
	uint64_t session = 3;

	(void)state;
	version = OPEN;
	MPI_T_init_thread(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	initialized = NEVER;
	MPI_Session_init(0, 0, (mpi_word)&session, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_not_equal(initialized, NEVER);
	assert_int_equal(over(5), 1);
	MPI_Session_finalize(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	/* Without MPI_Init nobody may use the world. */
	mal_mpi_progress();
	assert_int_equal(probed, 0);
	assert_int_equal(entered, left);
}

static void sessions_of_fortran(void **state)
{
	int session = 4, error = 0;

	(void)state;
	version = OPEN;
	initialized = NEVER;
	mpi_session_init_(0, 0, (mpi_word)&session, (mpi_word)&error, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_not_equal(initialized, NEVER);
	assert_int_equal(over(5), 1);
	mpi_session_finalize_(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(entered, left);
}

/* Nothing is asked about a session whose handle nobody knows. */
static void sessions_of_fortran_without_a_handle(void **state)
{
	int session = 4, error = 0;

	(void)state;
	version = OPEN;
	initialized = NEVER;
	lacks_session_f2c = true;
	mpi_session_init_(0, 0, (mpi_word)&session, (mpi_word)&error, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(initialized, NEVER);
}

static void starts_and_ends(void **state)
{
	int error = 0;

	(void)state;
	version = OPEN;
	mpi_init_((mpi_word)&error, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	mpi_init_thread_f08_(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	MPI_Init_thread(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	MPI_Finalize(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	mpi_finalize_((mpi_word)&error, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(finalized, 4);
	assert_int_equal(probed, 2);
	assert_int_equal(entered, left);
	assert_int_equal(ucp_worker_progress(NULL), 3);
	assert_int_equal(polled, 1);
}

/* The program has found a call here that its MPI has not: an error, and no end. */
static void missing_calls_are_errors(void **state)
{
	int (*call_of_none)(void);

	(void)state;
	lacks = true;
	*(void **)&call_of_none = mal_mpi_next("MPI_Of_tomorrow");
	assert_int_equal(call_of_none(), 16);
}

#define CASE(function) ALONE(function, NULL, NULL)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(all_are_passed_on),
		CASE(seen_though_local),
		CASE(boundaries_of_open_mpi),
		CASE(boundaries_of_mpich),
		CASE(of_the_standard),
		CASE(intel_mpi_is_told_to_yield),
		CASE(yields_that_the_user_wants_stay),
		CASE(unknown_libraries_are_named),
		CASE(collective_requests_end_a_phase_once),
		CASE(persistent_requests_come_each_time),
		CASE(requests_beyond_the_room_end_no_phase),
		CASE(sessions_touch_no_world),
		CASE(sessions_of_fortran),
		CASE(sessions_of_fortran_without_a_handle),
		CASE(starts_and_ends),
		CASE(missing_calls_are_errors),
	};

	unsetenv("OMPI_MCA_mpi_yield_when_idle");
	unsetenv("I_MPI_THREAD_YIELD");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
