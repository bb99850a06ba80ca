/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * calls.h: the blocking MPI calls: CALL(name, Fortran name, parameters, arguments, number of Fortran arguments).
 * WAIT: a point-to-point or local call. OVER(comm, position): a collective call and where its communicator stands
 * among the Fortran arguments, from 0.
 */
#define BUFFER const void *buf, int count, MPI_Datatype type

WAIT(Send, send, (BUFFER, int dest, int tag, MPI_Comm comm), (buf, count, type, dest, tag, comm), 7)
WAIT(Ssend, ssend, (BUFFER, int dest, int tag, MPI_Comm comm), (buf, count, type, dest, tag, comm), 7)
WAIT(Rsend, rsend, (BUFFER, int dest, int tag, MPI_Comm comm), (buf, count, type, dest, tag, comm), 7)
WAIT(Recv, recv, (void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status),
     (buf, count, type, source, tag, comm, status), 8)
WAIT(Sendrecv, sendrecv,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount,
      MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status),
     (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status), 13)
WAIT(Sendrecv_replace, sendrecv_replace,
     (void *buf, int count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
      MPI_Status *status),
     (buf, count, type, dest, sendtag, source, recvtag, comm, status), 10)
WAIT(Probe, probe, (int source, int tag, MPI_Comm comm, MPI_Status *status), (source, tag, comm, status), 5)
WAIT(Mprobe, mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),
     (source, tag, comm, message, status), 6)
WAIT(Mrecv, mrecv, (void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status),
     (buf, count, type, message, status), 6)
WAIT(Wait, wait, (MPI_Request * request, MPI_Status *status), (request, status), 3)
WAIT(Waitall, waitall, (int count, MPI_Request *requests, MPI_Status *statuses), (count, requests, statuses), 4)
WAIT(Waitany, waitany, (int count, MPI_Request *requests, int *index, MPI_Status *status),
     (count, requests, index, status), 5)
WAIT(Waitsome, waitsome, (int incount, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses),
     (incount, requests, outcount, indices, statuses), 6)
WAIT(Win_fence, win_fence, (int assert_, MPI_Win win), (assert_, win), 3)
WAIT(Win_complete, win_complete, (MPI_Win win), (win), 2)
WAIT(Win_wait, win_wait, (MPI_Win win), (win), 2)
WAIT(Win_unlock, win_unlock, (int rank, MPI_Win win), (rank, win), 3)
WAIT(Win_flush, win_flush, (int rank, MPI_Win win), (rank, win), 3)
WAIT(Win_flush_all, win_flush_all, (MPI_Win win), (win), 2)

OVER(Barrier, barrier, (MPI_Comm comm), (comm), 2, 0)
OVER(Bcast, bcast, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm), (buf, count, type, root, comm),
     6, 4)
OVER(Gather, gather,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
      int root, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), 9, 7)
OVER(Gatherv, gatherv,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int *recvcounts,
      const int *displs, MPI_Datatype recvtype, int root, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm), 10, 8)
OVER(Scatter, scatter,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
      int root, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), 9, 7)
OVER(Scatterv, scatterv,
     (const void *sendbuf, const int *sendcounts, const int *displs, MPI_Datatype sendtype, void *recvbuf,
      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
     (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm), 10, 8)
OVER(Allgather, allgather,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
      MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), 8, 6)
OVER(Allgatherv, allgatherv,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int *recvcounts,
      const int *displs, MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm), 9, 7)
OVER(Alltoall, alltoall,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
      MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), 8, 6)
OVER(Alltoallv, alltoallv,
     (const void *sendbuf, const int *sendcounts, const int *sdispls, MPI_Datatype sendtype, void *recvbuf,
      const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), 10, 8)
OVER(Alltoallw, alltoallw,
     (const void *sendbuf, const int *sendcounts, const int *sdispls, const MPI_Datatype *sendtypes, void *recvbuf,
      const int *recvcounts, const int *rdispls, const MPI_Datatype *recvtypes, MPI_Comm comm),
     (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm), 10, 8)
OVER(Reduce, reduce,
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
     (sendbuf, recvbuf, count, type, op, root, comm), 8, 6)
OVER(Allreduce, allreduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (sendbuf, recvbuf, count, type, op, comm), 7, 5)
OVER(Reduce_scatter, reduce_scatter,
     (const void *sendbuf, void *recvbuf, const int *recvcounts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (sendbuf, recvbuf, recvcounts, type, op, comm), 7, 5)
OVER(Reduce_scatter_block, reduce_scatter_block,
     (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (sendbuf, recvbuf, recvcount, type, op, comm), 7, 5)
OVER(Scan, scan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (sendbuf, recvbuf, count, type, op, comm), 7, 5)
OVER(Exscan, exscan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (sendbuf, recvbuf, count, type, op, comm), 7, 5)
OVER(Neighbor_allgather, neighbor_allgather,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
      MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), 8, 6)
OVER(Neighbor_alltoall, neighbor_alltoall,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
      MPI_Comm comm),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), 8, 6)
OVER(Neighbor_alltoallv, neighbor_alltoallv,
     (const void *sendbuf, const int *sendcounts, const int *sdispls, MPI_Datatype sendtype, void *recvbuf,
      const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm),
     (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), 10, 8)
OVER(Comm_dup, comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made), 3, 0)
OVER(Comm_split, comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made), 5, 0)

#undef BUFFER
