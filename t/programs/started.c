/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * started.c: a library that prints on standard error that its constructor runs and, built with
 * -DTOOL, that it is started as an OMPT tool; it registers no callbacks. With -DCHECKPOINTS it
 * looks like DMTCP.
 */
#include <stdio.h>
#include <unistd.h>

#ifdef TOOL
typedef struct {
	int (*initialize)(void *lookup, int device, void *data);
	void (*finalize)(void *data);
	void *data;
} start_result; /* ompt_start_tool_result_t */

start_result *ompt_start_tool(unsigned int omp_version, const char *runtime_version);

static int initialize(void *lookup, int device, void *data)
{
	(void)lookup, (void)device, (void)data;
	dprintf(STDERR_FILENO, "tool started\n");
	return 1;
}

static void finalize(void *data)
{
	(void)data;
}

start_result *ompt_start_tool(unsigned int omp_version, const char *runtime_version)
{
	static start_result result = {initialize, finalize, NULL};

	(void)omp_version, (void)runtime_version;
	return &result;
}
#elif defined(CHECKPOINTS)
int dmtcp_is_enabled(void);

int dmtcp_is_enabled(void)
{
	return 1;
}
#else
__attribute__((constructor)) static void constructed(void)
{
	dprintf(STDERR_FILENO, "constructed\n");
}
#endif
