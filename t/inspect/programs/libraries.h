// SPDX-License-Identifier: LGPL-2.1-or-later
/* The libraries that programs are linked with. A program names them in its first comment. */
#ifndef T_INSPECT_PROGRAMS_LIBRARIES_H
#define T_INSPECT_PROGRAMS_LIBRARIES_H

/* plain: neither asks nor has thread-local storage. */
double plain_value(double x);
double plain_apply(double (*function)(double), double x);
void plain_region(double *a, int n);

/* tls: has thread-local storage, though not for this. */
double tls_value(double x);

/* gpu: has a device for each thread. wrapper: calls gpu. */
void gpu_set_device(int device);
double gpu_value(double x);
double wrapper_value(double x);

/* mpi: of one rank; a message waits for its receiver. */
int MPI_Comm_rank(int comm, int *rank);
int MPI_Send(const double *from, int count);
int MPI_Recv(double *to, int count);
int MPI_Abort(int comm, int code);

#endif
