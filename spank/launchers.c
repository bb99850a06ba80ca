/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * launchers.c: launchers such as mpirun, in balanced jobs.
 *
 * Invariant: without --balance a script's environment is unchanged (t/t2019-launchers.t).
 */
#include "spank/launchers.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "libmalleable/base/number.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/handover.h"
#include "libmalleable/core/launcher_table.h"
#include "libmalleable/core/script.h"
#include "spank/contained.h"
#include "spank/deadline.h"
#include "spank/entries.h"
#include "spank/step_log.h"

#define PROGRAM "malleable-join"
/* Less than this nobody wants to have balanced. */
#define COMPUTED_S 1
/* Retries if the last step that leaves removes the directory meanwhile. */
#define TRIES 10

/* Where the script's pipe is (core/script.h); empty, which no file is called: none. */
static char script_path[MAL_SCRIPT_PATH];
/* And beside it the pipe of its launchers (core/handover.h); likewise. */
static char handovers_path[MAL_SCRIPT_PATH];

bool balance_launchers_find_daemon(spank_t spank, uint32_t *nodes)
{
	const struct mal_launcher *launcher;
	char **words, number[16];
	int count;

	if (spank_get_item(spank, S_JOB_ARGV, &count, &words) != ESPANK_SUCCESS || count < 1)
		return false;
	launcher = mal_launcher_of_daemon(words[0]);
	if (launcher && launcher->agent &&
	    spank_getenv(spank, "SLURM_JOB_NUM_NODES", number, sizeof(number)) == ESPANK_SUCCESS)
		mal_number_parse(number, 2, MAL_LAUNCHED_NODES, nodes);
	return launcher != NULL;
}

void balance_launchers_clean_up(void)
{
	mal_rundir_clean_up(MAL_SCRIPT_DIR, NULL);
	balance_directory_leave(MAL_SCRIPT_DIR);
}

int balance_launchers_await(uint32_t job, uid_t user, gid_t group, int *handovers,
			    struct mal_error *err)
{
	int fd = -1;

	balance_launchers_clean_up();
	for (int i = 0; i < TRIES && fd < 0; i++)
		if (balance_directory_make(MAL_SCRIPT_DIR, 0755, err) == 0)
			fd = mal_script_listen(job, balance_contained_slurmstepd(), user, group,
					       script_path, err);
	if (fd < 0) {
		script_path[0] = '\0';
		return -1;
	}
	*handovers = mal_handover_listen(script_path, user, group, handovers_path, err);
	if (*handovers < 0) {
		balance_info("%s: launchers in the script are not logged", err->text);
		handovers_path[0] = '\0';
	}
	return fd;
}

void balance_launchers_record(int *handovers, uint32_t job, uid_t user)
{
	char step[64], node[256] = "?";
	unsigned int number = 0, left = MAL_HANDOVERS;
	struct mal_handover what;

	gethostname(node, sizeof(node) - 1);
	while (balance_deadline_left(1) && mal_handover_take(*handovers, &left, &what)) {
		snprintf(step, sizeof(step), "%u.%s.%u", job, what.launcher, ++number);
		balance_outcome_report(&(struct balance_outcome){.job = job,
								 .user = user,
								 .step = step,
								 .node = node,
								 .policy = what.policy,
								 .ranks = what.ranks,
								 .cpus = what.cpus,
								 .silent = true},
				       (char *)&what.record, sizeof(what.record));
	}
	if (*handovers >= 0)
		close(*handovers);
	*handovers = -1;
	unlink(handovers_path);
	handovers_path[0] = '\0';
}

/*
 * Whether the script, or what it waited for, used so much CPU time that ranks may be among that.
 * The steps of srun are not.
 */
static bool has_computed(void)
{
	struct rusage used;

	return getrusage(RUSAGE_CHILDREN, &used) == 0 && used.ru_utime.tv_sec >= COMPUTED_S;
}

void balance_launchers_end(int *script, bool tell)
{
	enum mal_script_news news;

	if (*script >= 0) {
		news = mal_script_hear(*script);
		if (tell &&
		    (news == MAL_SCRIPT_NOTHING || (news == MAL_SCRIPT_NO_RANKS && has_computed())))
			balance_tell_user("nothing in this script was balanced: no ranks of srun, "
					  "and no mpirun that has the script's environment; type "
					  "srun ./app, or mpirun ./app without env -i and outside "
					  "of containers, or malleable run -- mpirun ./app");
		close(*script);
		*script = -1;
	}
	unlink(script_path);
	script_path[0] = '\0';
	balance_directory_leave(MAL_SCRIPT_DIR);
}

/*
 * A launcher does not start at all if its fork agent is missing, as in a container: the shell looks
 * first. The launcher splits the text at blanks, so the shell's own ones come from IFS.
 */
static bool make_agent(char *text, size_t size)
{
	const char *libdir = balance_config.libdir;
	int length = snprintf(text, size,
			      "/bin/sh -c test${IFS}-x${IFS}%s/" PROGRAM "&&exec${IFS}%s/" PROGRAM
			      "${IFS}\"$@\";exec${IFS}\"$@\" " PROGRAM,
			      libdir, libdir);

	return length < (int)size && !strpbrk(libdir, " \t\n'\"\\$`;&|<>()*?[]~#");
}

bool balance_launchers_set(const struct mal_setup_env *env)
{
	char agent[2048], old[2048];

	if (!make_agent(agent, sizeof(agent)))
		return false;
	for (const struct mal_launcher *each = mal_launchers; each->name; each++)
		if (each->agent && env->get(env->context, each->agent, old, sizeof(old)) == 0)
			env->set(env->context, each->agent, agent);
	return true;
}

void balance_launchers_unset(const struct mal_setup_env *env)
{
	static const char *const names[] = {MAL_ENV_JOB, MAL_ENV_JOB_POLICIES, MAL_ENV_JOB_REPORT,
					    MAL_ENV_JOB_PROGRAMS};
	char value[2048];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		env->unset(env->context, names[i]);
	for (const struct mal_launcher *each = mal_launchers; each->name; each++)
		if (each->agent && env->get(env->context, each->agent, value, sizeof(value)) == 1 &&
		    strstr(value, "/" PROGRAM))
			env->unset(env->context, each->agent);
}
