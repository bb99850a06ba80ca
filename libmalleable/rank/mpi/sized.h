/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sized.h: see MPI calls with counts of type MPI_Count, where the MPI library has them. */
#pragma once

/* MPI is initialised: look at the objects that are loaded. Calls after the first do nothing. */
void mal_mpi_sized_open(void);
