/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * launcher_table.c: what is known of launchers such as mpirun.
 *
 * Invariant: a row is all that a launcher needs (t/unit/test_core.c: launchers_of_the_table;
 * t/t2019-launchers.t). One rank of a step prints what all find (t/unit/test_core.c:
 * innermost_launcher_names_the_first_rank; t/t3007-nodes.t).
 */
#include "libmalleable/core/launcher_table.h"

#include <stddef.h>
#include <string.h>

#include "libmalleable/base/number.h"
#include "libmalleable/core/variables.h"

/* The inner one of two comes first: mpirun's ranks have the variables of a daemon around it too. */
const struct mal_launcher mal_launchers[] = {
	{
		"Open MPI 4",
		.daemons = {"orted"},
		.agent = "OMPI_MCA_orte_fork_agent",
		.facts = {[MAL_LAUNCHER_RANK] = "OMPI_COMM_WORLD_RANK",
			  [MAL_LAUNCHER_LOCAL_RANK] = "OMPI_COMM_WORLD_LOCAL_RANK",
			  [MAL_LAUNCHER_SIZE] = "OMPI_COMM_WORLD_SIZE",
			  [MAL_LAUNCHER_LOCAL_SIZE] = "OMPI_COMM_WORLD_LOCAL_SIZE",
			  [MAL_LAUNCHER_PATH] = "OMPI_exec_path"},
	},
	{
		"PRRTE 3 (Open MPI 5)",
		.daemons = {"prted"},
		.agent = "PRTE_MCA_odls_base_exec_agent",
		.facts = {[MAL_LAUNCHER_RANK] = "PMIX_RANK",
			  [MAL_LAUNCHER_DIRECTORY] = "PMIX_SERVER_TMPDIR",
			  [MAL_LAUNCHER_JOB] = "PMIX_NAMESPACE"},
	},
	{
		"PRRTE 2",
		.daemons = {"prted"},
		.agent = "PRTE_MCA_prte_fork_agent",
	},
	{
		"Hydra (MPICH, Intel MPI)",
		.daemons = {"hydra_pmi_proxy", "pmi_proxy", "hydra_bstrap_proxy"},
		.facts = {[MAL_LAUNCHER_RANK] = "PMI_RANK",
			  [MAL_LAUNCHER_LOCAL_RANK] = "MPI_LOCALRANKID",
			  [MAL_LAUNCHER_SIZE] = "PMI_SIZE",
			  [MAL_LAUNCHER_LOCAL_SIZE] = "MPI_LOCALNRANKS"},
	},
	{0},
};

const struct mal_launcher *mal_launcher_of_daemon(const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;

	for (const struct mal_launcher *launcher = mal_launchers; launcher->name; launcher++)
		for (size_t i = 0; i < 3 && launcher->daemons[i]; i++)
			if (strcmp(name, launcher->daemons[i]) == 0)
				return launcher;
	return NULL;
}

const char *mal_launcher_value(char *const *variables, enum mal_launcher_fact fact)
{
	const char *told = NULL;

	for (const struct mal_launcher *launcher = mal_launchers; launcher->name && !told;
	     launcher++)
		if (launcher->facts[fact])
			told = mal_variable(variables, launcher->facts[fact]);
	return told;
}

bool mal_is_first(char *const *variables)
{
	const char *rank = mal_launcher_value(variables, MAL_LAUNCHER_RANK);

	/* Ranks of a launcher have it too: that of the script or the daemon around them. */
	if (!rank)
		rank = mal_variable(variables, "SLURM_PROCID");
	return !rank || (rank[0] == '0' && !rank[1]);
}

bool mal_launcher_number(char *const *variables, enum mal_launcher_fact fact, unsigned int max,
			 unsigned int *number)
{
	for (const struct mal_launcher *launcher = mal_launchers; launcher->name; launcher++)
		if (launcher->facts[fact] &&
		    mal_number_parse(mal_variable(variables, launcher->facts[fact]), 0, max,
				     number))
			return true;
	return false;
}
