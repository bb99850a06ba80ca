/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * blocking_calls.h: the blocking MPI calls, by number of arguments of their C form (MPI 4.1).
 * Fortran's have one more, the error. Positions of arguments count from 0.
 *
 * WAIT(name, Fortran name, arguments): point to point, one-sided, files, or local
 * OVER(name, Fortran name, arguments, position of the communicator): collective
 * TEXT(name, Fortran name, arguments, texts): as WAIT, with character strings, whose lengths
 *   Fortran compilers pass as additional arguments
 * TEST(name, Fortran name, arguments, position of the result): returns at once
 *
 * Calls with requests, which may be of collective calls begun earlier (requests.h):
 * WAIT_ONE(..., request), WAIT_MANY(..., count, requests)
 * TEST_ONE(..., request, result), TEST_MANY(..., count, requests, result)
 * FREE(..., request), START_ONE(..., request), START_MANY(..., count, requests)
 * BEGIN(..., communicator, request): non-blocking collective
 * INIT(..., communicator, request): persistent collective
 *
 * Those of which C also has a form NAME_c with counts of type MPI_Count are in sized_calls.h.
 *
 * Collective calls on files and windows bring ranks together too, but programs make them rarely:
 * they are no boundaries. A call that an MPI library lacks is not called.
 */
#include "libmalleable/rank/mpi/sized_calls.h"

WAIT(Probe, probe, 4)
WAIT(Mprobe, mprobe, 5)
WAIT_ONE(Wait, wait, 2, 0)
WAIT_MANY(Waitall, waitall, 3, 0, 1)
WAIT_MANY(Waitany, waitany, 4, 0, 1)
WAIT_MANY(Waitsome, waitsome, 5, 0, 1)
TEST_ONE(Test, test, 3, 0, 1)
TEST_MANY(Testall, testall, 4, 0, 1, 2)
TEST_MANY(Testany, testany, 5, 0, 1, 3)
TEST_MANY(Testsome, testsome, 5, 0, 1, 2)
TEST(Iprobe, iprobe, 5, 3)
TEST(Improbe, improbe, 6, 3)
TEST(Request_get_status, request_get_status, 3, 1)
TEST(Request_get_status_all, request_get_status_all, 4, 2)
TEST(Request_get_status_any, request_get_status_any, 5, 3)
TEST(Request_get_status_some, request_get_status_some, 5, 2)
TEST(Parrived, parrived, 3, 2)
TEST(Win_test, win_test, 2, 1)
FREE(Request_free, request_free, 1, 0)
START_ONE(Start, start, 1, 0)
START_MANY(Startall, startall, 2, 0, 1)

OVER(Barrier, barrier, 1, 0)

BEGIN(Ibarrier, ibarrier, 2, 0, 1)

INIT(Barrier_init, barrier_init, 3, 0, 2)

OVER(Comm_dup, comm_dup, 2, 0)
OVER(Comm_dup_with_info, comm_dup_with_info, 3, 0)
OVER(Comm_split, comm_split, 4, 0)
OVER(Comm_split_type, comm_split_type, 5, 0)
OVER(Comm_create, comm_create, 3, 0)
OVER(Cart_create, cart_create, 6, 0)
OVER(Graph_create, graph_create, 6, 0)
OVER(Dist_graph_create, dist_graph_create, 9, 0)
OVER(Dist_graph_create_adjacent, dist_graph_create_adjacent, 10, 0)
OVER(Cart_sub, cart_sub, 3, 0)
WAIT(Comm_create_group, comm_create_group, 4)
WAIT(Comm_free, comm_free, 1)
TEXT(Comm_create_from_group, comm_create_from_group, 5, 1)
TEXT(Intercomm_create_from_groups, intercomm_create_from_groups, 8, 1)
WAIT(Intercomm_create, intercomm_create, 6)
WAIT(Intercomm_merge, intercomm_merge, 3)
WAIT(Comm_disconnect, comm_disconnect, 1)
TEXT(Comm_accept, comm_accept, 5, 1)
TEXT(Comm_connect, comm_connect, 5, 1)
TEXT(Comm_spawn, comm_spawn, 8, 2)
TEXT(Comm_spawn_multiple, comm_spawn_multiple, 9, 2)

WAIT(Win_create_dynamic, win_create_dynamic, 3)
WAIT(Win_free, win_free, 1)
WAIT(Win_fence, win_fence, 2)
WAIT(Win_start, win_start, 3)
WAIT(Win_complete, win_complete, 1)
WAIT(Win_wait, win_wait, 1)
WAIT(Win_lock, win_lock, 4)
WAIT(Win_lock_all, win_lock_all, 2)
WAIT(Win_unlock, win_unlock, 2)
WAIT(Win_unlock_all, win_unlock_all, 1)
WAIT(Win_flush, win_flush, 2)
WAIT(Win_flush_all, win_flush_all, 1)
WAIT(Win_flush_local, win_flush_local, 2)
WAIT(Win_flush_local_all, win_flush_local_all, 1)

TEXT(File_open, file_open, 5, 1)
TEXT(File_set_view, file_set_view, 6, 1)
WAIT(File_close, file_close, 1)
WAIT(File_set_size, file_set_size, 2)
WAIT(File_preallocate, file_preallocate, 2)
WAIT(File_sync, file_sync, 1)
WAIT(File_read_all_end, file_read_all_end, 3)
WAIT(File_write_all_end, file_write_all_end, 3)
WAIT(File_read_at_all_end, file_read_at_all_end, 3)
WAIT(File_write_at_all_end, file_write_at_all_end, 3)
WAIT(File_read_ordered_end, file_read_ordered_end, 3)
WAIT(File_write_ordered_end, file_write_ordered_end, 3)
