/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* arguments.c: what malleabled is started with. */
#include "libmalleable/core/arguments.h"

#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "libmalleable/base/number.h"

#define FIRST_OPTION 256
/* Descriptors that a command line may name. */
#define FD_MAX (1u << 20)

enum kind {
	TEXT,	  /* const char *; NULL: left out */
	NUMBER,	  /* unsigned int; 0: left out */
	IDENTITY, /* unsigned int; left out unless becomes_user */
	FD,	  /* int; -1: left out */
	CGROUPS,  /* the list of descriptors */
};

struct argument {
	const char *name;
	enum kind kind;
	size_t offset;
	const char *value; /* what stands for it in the usage */
	const char *help;
};

#define FIELD(name) offsetof(struct mal_arguments, name)
static const struct argument table[] = {
	{"segment-fd", FD, FIELD(segment_fd), "N", "descriptor of the step's segment"},
	{"life-fd", FD, FIELD(life_fd), "N",
	 "read end of a pipe: when its other end closes, the step is over"},
	{"report-fd", FD, FIELD(report_fd), "N", "where the report goes as text"},
	{"start-fd", FD, FIELD(start_fd), "N",
	 "leave the parent, which is told of the new process over this socket"},
	{"listen-fd", FD, FIELD(listen_fd), "N", "socket for requests"},
	{"agent-fd", FD, FIELD(agent_fd), "N",
	 "connection to the node's agent, where jobs share CPUs"},
	{"cgroup-fd", CGROUPS, FIELD(cgroup_fds), "N",
	 "cgroup.procs of a cgroup to enter first; may be given several times"},
	{"user", IDENTITY, FIELD(user), "U", "with --group: become this user, from root"},
	{"group", IDENTITY, FIELD(group), "G", "and of this group"},
	{"socket", TEXT, FIELD(socket), "F", "name of the socket for requests"},
	{"cpus", TEXT, FIELD(cpus), "LIST", "the step's CPUs on this node"},
	{"idle", TEXT, FIELD(idle), "LIST",
	 "CPUs beside the step's that the ranks may use (grow=job); --cpus has them too"},
	{"policy", TEXT, FIELD(policy), "P[,K=V]", "as in srun --balance"},
	{"step", TEXT, FIELD(step), "S", "the step's name in reports"},
	{"node", TEXT, FIELD(node), "N", "the node's name in reports"},
	{"libdir", TEXT, FIELD(libdir), "D", "where loadable policies and what runs them are"},
	{"policies", TEXT, FIELD(allowed), "LIST", "those that malleable set may set"},
	{"report-file", TEXT, FIELD(report_file), "F", "where the report goes as JSON"},
	{"site-report", TEXT, FIELD(site_report), "F",
	 "where the report goes as JSON too, in a new file"},
	{"trace-file", TEXT, FIELD(trace_file), "F", "where the step is recorded"},
	{"off-file", TEXT, FIELD(off_file), "F",
	 "while this file of root is there nothing is balanced"},
	{"min-cpus", NUMBER, FIELD(min_cpus), "N",
	 "every rank keeps so many CPUs, where there are enough"},
	{"nodes", NUMBER, FIELD(nodes), "N", "the step is over so many"},
	{"hostfile", TEXT, FIELD(hostfile), "F",
	 "where a better placement of its ranks on these is written"},
};
#undef FIELD

#define COUNT (sizeof(table) / sizeof(table[0]))

_Static_assert(2 * (COUNT + MAL_ARGUMENTS_CGROUPS) <= MAL_ARGUMENTS_MAX, "a line for all of them");

/* Options are "--name": the table has names without, so that getopt can use them. */
static void add(struct mal_command_line *line, const struct argument *argument, const char *value)
{
	static char options[COUNT][24];
	char *option = options[argument - table];

	snprintf(option, sizeof(options[0]), "--%s", argument->name);
	line->words[line->count++] = option;
	line->words[line->count++] = value;
	line->words[line->count] = NULL;
}

static void add_number(struct mal_command_line *line, const struct argument *argument,
		       unsigned int number)
{
	char *text = line->numbers[line->number_count++];

	snprintf(text, sizeof(line->numbers[0]), "%u", number);
	add(line, argument, text);
}

void mal_arguments_format(const struct mal_arguments *arguments, const char *program,
			  int (*move)(void *context, int fd), void *context,
			  struct mal_command_line *line)
{
	line->words[0] = program;
	line->words[1] = NULL;
	line->count = 1;
	line->number_count = 0;
	for (const struct argument *row = table; row < table + COUNT; row++) {
		const void *field = (const char *)arguments + row->offset;
		const int *fds = field;
		unsigned int fd_count = row->kind == FD ? 1 : 0;

		if (row->kind == CGROUPS)
			fd_count = arguments->cgroup_count;
		if (row->kind == TEXT && *(const char *const *)field)
			add(line, row, *(const char *const *)field);
		if (row->kind == IDENTITY ? arguments->becomes_user
					  : row->kind == NUMBER && *(const unsigned int *)field)
			add_number(line, row, *(const unsigned int *)field);
		for (unsigned int i = 0; i < fd_count && i < MAL_ARGUMENTS_CGROUPS; i++)
			if (fds[i] >= 0)
				add_number(line, row, (unsigned int)move(context, fds[i]));
	}
}

static int take(const struct argument *row, const char *text, struct mal_arguments *arguments,
		struct mal_error *err)
{
	void *field = (char *)arguments + row->offset;
	unsigned int number = 0,
		     max = row->kind == NUMBER || row->kind == IDENTITY ? UINT_MAX : FD_MAX;

	if (row->kind == TEXT) {
		*(const char **)field = text;
		return 0;
	}
	if (!mal_number_parse(text, 0, max, &number))
		return mal_fail(err, "--%s %.32s: a number is wanted", row->name, text);
	switch (row->kind) {
	case FD: *(int *)field = (int)number; break;
	case CGROUPS:
		if (arguments->cgroup_count == MAL_ARGUMENTS_CGROUPS)
			return mal_fail(err, "--%s: more than %d", row->name,
					MAL_ARGUMENTS_CGROUPS);
		((int *)field)[arguments->cgroup_count++] = (int)number;
		break;
	case IDENTITY: arguments->becomes_user = true; /* fall through */
	default: *(unsigned int *)field = number;
	}
	return 0;
}

int mal_arguments_parse(int argc, char **argv, struct mal_arguments *arguments,
			struct mal_error *err)
{
	struct option options[COUNT + 3];
	size_t count = 0;
	int option;

	for (; count < COUNT; count++)
		options[count] = (struct option){table[count].name, required_argument, NULL,
						 FIRST_OPTION + (int)count};
	options[count++] = (struct option){"help", no_argument, NULL, 'h'};
	options[count++] = (struct option){"version", no_argument, NULL, 'V'};
	options[count] = (struct option){NULL, 0, NULL, 0};
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'h')
			return 0;
		if (option == 'V')
			return -2;
		if (option == '?')
			return mal_fail(err, "wrong arguments, see --help");
		if (take(&table[option - FIRST_OPTION], optarg, arguments, err) < 0)
			return -1;
	}
	return optind;
}

void mal_arguments_print(FILE *out)
{
	for (size_t i = 0; i < COUNT; i++) {
		int used = fprintf(out, "  --%s %s", table[i].name, table[i].value);

		fprintf(out, "%*s%s\n", used < 22 ? 22 - used : 1, "", table[i].help);
	}
}
