/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* otherversion.c: preloaded: the MPI library reports an unknown version. */
#include <string.h>

int MPI_Get_library_version(char *version, int *length);
int PMPI_Get_library_version(char *version, int *length);

int PMPI_Get_library_version(char *version, int *length)
{
	strcpy(version, "Some MPI 1.0");
	*length = (int)strlen(version);
	return 0;
}

int MPI_Get_library_version(char *version, int *length)
{
	return PMPI_Get_library_version(version, length);
}
