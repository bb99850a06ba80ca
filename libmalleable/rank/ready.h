/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ready.h: what is done as soon as constructors run. Before them (program/gomp.c) nothing may be
 * called that another library may replace.
 *
 * Invariant: a program that loaded this library is counted in its step (t/t2016-absent.t).
 */
#pragma once

/*
 * For the constructor of libmalleable_mpi.so, as all of this library's run before those of the
 * libraries that it is loaded behind.
 */
void mal_mpi_ready(void);
