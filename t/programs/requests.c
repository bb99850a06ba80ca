/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * requests.c: phases that end in non-blocking collective calls: 20 completed by each of MPI_Wait,
 * MPI_Test and MPI_Waitall and, if MPI has persistent ones, 20 by MPI_Wait. With "sessions":
 * without MPI_COMM_WORLD, by MPI_Session_init.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TIMES 20

static MPI_Comm comm = MPI_COMM_WORLD;
static int rank, phases;

static void by_wait(void)
{
	MPI_Request request;
	int sum;

	MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void by_test(void)
{
	MPI_Request request;
	int done = 0;

	MPI_Ibarrier(comm, &request);
	while (!done)
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void by_wait_all(void)
{
	MPI_Request requests[3];
	int sum, mine = rank, theirs;

	MPI_Irecv(&theirs, 1, MPI_INT, 1 - rank, 0, comm, &requests[0]);
	MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
	MPI_Isend(&mine, 1, MPI_INT, 1 - rank, 0, comm, &requests[2]);
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

static void run(void (*phase)(void))
{
	for (int i = 0; i < TIMES; i++) {
		usleep(rank ? 1000 : 3000);
		phase();
		phases++;
	}
}

/* Open MPI 5 has these, and calls itself MPI 3.1. */
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
static MPI_Request persistent;
static MPI_Session session;

static void by_start(void)
{
	MPI_Start(&persistent);
	MPI_Wait(&persistent, MPI_STATUS_IGNORE);
}

static void run_persistent(void)
{
	MPI_Barrier_init(comm, MPI_INFO_NULL, &persistent);
	run(by_start);
	MPI_Request_free(&persistent);
}

static void begin_session(void)
{
	MPI_Group group;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "phases", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
	MPI_Group_free(&group);
}

static void end_session(void)
{
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&session);
}
#else
static void run_persistent(void)
{
}

static void begin_session(void)
{
}

static void end_session(void)
{
}
#endif

int main(int argc, char **argv)
{
	int sessions = argc > 1 && strcmp(argv[1], "sessions") == 0;

	if (sessions)
		begin_session();
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_rank(comm, &rank);
	run(by_wait);
	run(by_test);
	run(by_wait_all);
	run_persistent();
	if (rank == 0)
		printf("phases %d\n", phases);
	if (sessions)
		end_session();
	else
		MPI_Finalize();
	return 0;
}
