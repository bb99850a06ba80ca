/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * calls-mpi.c: rank 1 waits for rank 0 in one kind of blocking MPI call: calls-mpi NAME. Rank 0
 * sleeps 50 ms before each call. Without a name the program lists the kinds.
 *
 * calls-mpi all DIRECTORY: in one call of each kind; rank 1 makes the file KIND.called before it,
 * and rank 0 comes when KIND.come exists.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMES 10
/* Open MPI 5 has it, and calls itself MPI 3.1. */
#define HAS_PARTITIONS (MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5)

static int rank, other;
static const char *directory; /* of "all" */
static MPI_Win window;
static MPI_Comm ring, grid;
static MPI_File file;
static int *memory;

static void file_path(char *path, size_t size, const char *kind, const char *what)
{
	snprintf(path, size, "%s/%s.%s", directory, kind, what);
}

static void late(const char *kind)
{
	char path[4096];

	if (!directory && rank == 0)
		usleep(50000);
	if (!directory)
		return;
	file_path(path, sizeof(path), kind, rank ? "called" : "come");
	if (rank == 1)
		close(open(path, O_CREAT | O_WRONLY, 0644));
	while (rank == 0 && access(path, F_OK) != 0)
		usleep(1000);
}

static void receive(void)
{
	int value = 0;

	if (rank == 0)
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	else
		MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_all(void)
{
	int value = 0;
	MPI_Request request;

	if (rank == 0)
		MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
	else
		MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
	MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
}

static void test(void)
{
	int value = 0, done = rank == 0;
	MPI_Request request;

	if (rank == 0)
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	else
		MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
	while (!done)
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void probe(void)
{
	int value = 0, done = rank == 0;

	if (rank == 0)
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	while (!done)
		MPI_Iprobe(0, 0, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
	if (rank == 1)
		MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static void neighbours(void)
{
	int mine = rank, theirs[2];

	MPI_Neighbor_allgather(&mine, 1, MPI_INT, theirs, 1, MPI_INT, ring);
}

static void fence(void)
{
	MPI_Win_fence(0, window);
	if (rank == 0)
		MPI_Put(&rank, 1, MPI_INT, other, 0, 1, MPI_INT, window);
	MPI_Win_fence(0, window);
}

static void post_and_wait(void)
{
	MPI_Group world, partner;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &other, &partner);
	if (rank == 0) {
		MPI_Win_start(partner, 0, window);
		MPI_Put(&rank, 1, MPI_INT, other, 0, 1, MPI_INT, window);
		MPI_Win_complete(window);
	} else {
		MPI_Win_post(partner, 0, window);
		MPI_Win_wait(window);
	}
	MPI_Group_free(&partner);
	MPI_Group_free(&world);
}

static void write_all(void)
{
	MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof(rank), &rank, 1, MPI_INT,
			      MPI_STATUS_IGNORE);
}

static void set_size(void)
{
	MPI_File_set_size(file, 8);
}

static void intercommunicator(void)
{
	MPI_Comm pair, merged;

	MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, other, 1, &pair);
	MPI_Intercomm_merge(pair, rank, &merged);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&pair);
}

static void get_status(void)
{
	int value = 0, done = rank == 0;
	MPI_Request request;

	if (rank == 0)
		MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
	else
		MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
	while (!done)
		MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void post_and_test(void)
{
	MPI_Group world, partner;
	int done = 0;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &other, &partner);
	if (rank == 0) {
		MPI_Win_start(partner, 0, window);
		MPI_Win_complete(window);
	} else {
		MPI_Win_post(partner, 0, window);
		while (!done)
			MPI_Win_test(window, &done);
	}
	MPI_Group_free(&partner);
	MPI_Group_free(&world);
}

static void create_group(void)
{
	MPI_Group world;
	MPI_Comm same;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Comm_create_group(MPI_COMM_WORLD, world, 0, &same);
	MPI_Group_free(&world);
	MPI_Comm_free(&same);
}

static void sub_grid(void)
{
	int keep = 1;
	MPI_Comm row;

	MPI_Cart_sub(grid, &keep, &row);
	MPI_Comm_free(&row);
}

#if HAS_PARTITIONS
/* A message in two parts, which rank 1 receives. */
static MPI_Request exchange(void)
{
	static int values[2];
	MPI_Request request;

	if (rank == 0)
		MPI_Psend_init(values, 2, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
			       &request);
	else
		MPI_Precv_init(values, 2, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
			       &request);
	MPI_Start(&request);
	for (int part = 0; rank == 0 && part < 2; part++)
		MPI_Pready(part, request);
	return request;
}

static void partitions(void)
{
	MPI_Request request = exchange();

	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Request_free(&request);
}

static void arrived(void)
{
	MPI_Request request = exchange();
	int done = rank == 0;

	while (!done)
		MPI_Parrived(request, 1, &done);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Request_free(&request);
}
#endif

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{"recv", receive},
	{"waitall", wait_all},
	{"test", test},
	{"iprobe", probe},
	{"barrier", barrier},
	{"neighbours", neighbours},
	{"fence", fence},
	{"win-wait", post_and_wait},
	{"write-all", write_all},
	{"set-size", set_size},
	{"intercomm", intercommunicator},
	{"get-status", get_status},
	{"win-test", post_and_test},
	{"create-group", create_group},
	{"cart-sub", sub_grid},
#if HAS_PARTITIONS
	{"partitions", partitions},
	{"parrived", arrived},
#endif
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void set_up(void)
{
	int neighbours_of[1] = {other}, size = 2, periodic = 0;

	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, neighbours_of, MPI_UNWEIGHTED, 1,
				       neighbours_of, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &grid);
	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
	MPI_File_open(MPI_COMM_WORLD, "calls-mpi.out",
		      MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
}

static void call(size_t kind)
{
	for (int i = 0; i < (directory ? 1 : TIMES); i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		late(kinds[kind].name);
		kinds[kind].run();
	}
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	int found = 0;

	directory = argc > 2 ? argv[2] : NULL;
	for (size_t i = 0; i < KINDS; i++) {
		if (argc < 2)
			puts(kinds[i].name);
		found += directory || strcmp(name, kinds[i].name) == 0;
	}
	if (!found)
		return argc < 2 ? 0 : 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	other = 1 - rank;
	set_up();
	for (size_t i = 0; i < KINDS; i++)
		if (directory || strcmp(name, kinds[i].name) == 0)
			call(i);
	MPI_File_close(&file);
	MPI_Win_free(&window);
	MPI_Comm_free(&grid);
	MPI_Comm_free(&ring);
	MPI_Finalize();
	if (rank == 0)
		puts("done");
	return 0;
}
