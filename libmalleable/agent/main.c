/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * main.c: malleable-agent tells the balanced steps of a node their shares of CPUs that several jobs
 * have.
 *
 * After DROM's co-scheduling (D'Amico et al., ICPP 2018): jobs that share CPUs get parts of them
 * instead of taking turns.
 */
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "libmalleable/agent/claims.h"
#include "libmalleable/base/confine.h"
#include "libmalleable/base/number.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/base/patience.h"

/* (uid_t)-1 is no user. */
#define MAX_ID (UINT_MAX - 1)

/* Serve until no slurmd runs. */
static void serve(int listening)
{
	struct pollfd wait[MAL_SLURMDS_MAX + 1 + MAL_CLAIMS_WAITS];
	size_t slurmds;

	while ((slurmds = mal_slurmds_wait(wait))) {
		struct pollfd *listener_poll = &wait[slurmds], *client_polls = listener_poll + 1;
		size_t count = mal_claims_wait(client_polls);

		*listener_poll = (struct pollfd){.fd = listening, .events = POLLIN};
		if (poll(wait, (nfds_t)(slurmds + 1 + count), mal_claims_update()) < 0) {
			if (errno != EINTR)
				return;
			continue;
		}
		mal_claims_serve(client_polls, count);
		mal_slurmds_drop_ended(wait, slurmds);
		if (listener_poll->revents & POLLIN)
			mal_claims_accept(listening);
	}
}

static int give_up_root(uid_t user, gid_t group)
{
	if (geteuid() != 0)
		return 0;
	if (user == 0 || setgroups(0, NULL) < 0 || setresgid(group, group, group) < 0 ||
	    setresuid(user, user, user) < 0 || setuid(0) == 0)
		return -1;
	return 0;
}

static void usage(FILE *out)
{
	fputs("Usage: malleable-agent --listen-fd N --life-fd N --user UID --group GID [OPTIONS]\n"
	      "\n"
	      "Tells the balanced steps of a node their shares of CPUs that several jobs have. "
	      "The\n"
	      "balance plugin starts it in slurmd with coschedule=yes; it is of no use by itself.\n"
	      "\n"
	      "  --listen-fd N    the socket that steps connect to\n"
	      "  --life-fd N      read end of a pipe; it closes when slurmd has ended\n"
	      "  --user, --group  identity to take on; not root\n"
	      "  --patience N     factor for all deadlines\n"
	      "  --detach         detach from the parent process\n"
	      "  --help, --version\n",
	      out);
}

static const struct mal_tool tool = {"malleable-agent", PACKAGE_VERSION, usage};

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"listen-fd", required_argument, NULL, 'l'},
		{"life-fd", required_argument, NULL, 'e'},
		{"user", required_argument, NULL, 'u'},
		{"group", required_argument, NULL, 'g'},
		{"patience", required_argument, NULL, 'p'},
		{"detach", no_argument, NULL, 'd'},
		MAL_OPTIONS_END,
	};
	unsigned int number['u' + 1];
	bool given['u' + 1] = {false}, detach = false;
	pid_t child;
	int option;

	while ((option = mal_option(&tool, argc, argv, "", options)) != MAL_OPTION_END) {
		switch (option) {
		case MAL_OPTION_ANSWERED: return 0;
		case MAL_OPTION_WRONG: return 2;
		case 'd': detach = true; break;
		default:
			if (!mal_number_parse(optarg, 0, MAX_ID, &number[option])) {
				mal_option_wrong(&tool, "--%s %s: must be a number",
						 mal_option_name(options, option), optarg);
				return 2;
			}
			given[option] = true;
		}
	}
	if (!given['l'] || !given['e'] || !given['u'] || !given['g'] || !number['u'] ||
	    !number['g'] || number['l'] > INT_MAX || number['e'] > INT_MAX || optind < argc) {
		mal_option_wrong(&tool, "--listen-fd, --life-fd, --user and --group are needed, "
					"not of root, and nothing beside options");
		return 2;
	}
	/* Fork while root: slurmd waits for this process, which the agent's user could stop. */
	child = detach ? fork() : 0;
	if (child != 0)
		return child < 0;
	if (give_up_root(number['u'], number['g']) < 0) {
		fputs("malleable-agent: cannot give up root\n", stderr);
		return 1;
	}
	if (given['p'])
		mal_patience_set(number['p']);
	mal_confine(false);
	signal(SIGPIPE, SIG_IGN);
	if (chdir("/") < 0)
		return 1;
	mal_slurmds_add((int)number['e']);
	serve((int)number['l']);
	return 0;
}
