/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arguments.c: what malleabled is started with.
 *
 * Invariant: what is wrong is one line that names it (t/t0012-usage.t).
 */
#include "libmalleable/core/arguments.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "libmalleable/base/number.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/base/spawn.h"

#define FIRST_OPTION 256
/* Descriptors that a command line may name. */
#define FD_MAX (1u << 20)

enum kind {
	TEXT,	  /* const char *, hidden from others; NULL: left out */
	SHOWN,	  /* the same, but everybody may read it */
	NUMBER,	  /* unsigned int; 0: left out */
	IDENTITY, /* unsigned int; left out unless becomes_user */
	FD,	  /* int; -1: left out */
	CGROUPS,  /* the list of descriptors */
};

struct argument {
	const char *option;
	enum kind kind;
	size_t offset;
	const char *value; /* what stands for it in the usage */
	const char *help;
};

static void add(struct mal_words *words, const char *option, const char *value)
{
	words->words[words->count++] = option;
	words->words[words->count++] = value;
	words->words[words->count] = NULL;
}

static void add_number(struct mal_command_line *line, const char *option, unsigned int number)
{
	char *text = line->numbers[line->number_count++];

	snprintf(text, sizeof(line->numbers[0]), "%u", number);
	add(&line->shown, option, text);
}

static void add_fd(struct mal_command_line *line, const char *option, int fd)
{
	if (fd < 0)
		return;
	add_number(line, option, MAL_SPAWN_FIRST_FD + line->fd_count);
	line->fds[line->fd_count++] = fd;
}

/* Make words of FIELD, unless it is left out. */
static void write(struct mal_command_line *line, const struct mal_arguments *arguments,
		  const struct argument *argument, const void *field)
{
	const char *text;

	switch (argument->kind) {
	case TEXT:
	case SHOWN:
		text = *(const char *const *)field;
		if (text)
			add(argument->kind == TEXT ? &line->hidden : &line->shown, argument->option,
			    text);
		break;
	case NUMBER:
	case IDENTITY:
		if (argument->kind == IDENTITY ? arguments->becomes_user
					       : *(const unsigned int *)field)
			add_number(line, argument->option, *(const unsigned int *)field);
		break;
	case FD: add_fd(line, argument->option, *(const int *)field); break;
	case CGROUPS:
		for (unsigned int i = 0; i < arguments->cgroup_count && i < MAL_ARGUMENTS_CGROUPS;
		     i++)
			add_fd(line, argument->option, ((const int *)field)[i]);
	}
}

static bool read_fd(int *fd, const char *word)
{
	unsigned int number;

	if (!mal_number_parse(word, 0, FD_MAX, &number))
		return false;
	*fd = (int)number;
	return true;
}

/* Put WORD into FIELD. Returns false if it should have been another number. */
static bool read_word(struct mal_arguments *arguments, enum kind kind, void *field,
		      const char *word)
{
	switch (kind) {
	case TEXT:
	case SHOWN: *(const char **)field = word; return true;
	case FD: return read_fd(field, word);
	case CGROUPS:
		return arguments->cgroup_count < MAL_ARGUMENTS_CGROUPS &&
		       read_fd((int *)field + arguments->cgroup_count++, word);
	case IDENTITY: arguments->becomes_user = true; break;
	case NUMBER: break;
	}
	return mal_number_parse(word, 0, UINT_MAX, field);
}

_Static_assert(MAL_ARGUMENTS_CGROUPS == 4, "as above");

#define FIELD(name) offsetof(struct mal_arguments, name)
static const struct argument table[] = {
	{"--segment-fd", FD, FIELD(segment_fd), "N", "descriptor of the step's segment"},
	{"--life-fd", FD, FIELD(life_fd), "N",
	 "read end of a pipe: when its other end closes, the step is over"},
	{"--report-fd", FD, FIELD(report_fd), "N", "where the report goes as text"},
	{"--start-fd", FD, FIELD(start_fd), "N",
	 "leave the parent, which is told of the new process over this socket"},
	{"--listen-fd", FD, FIELD(listen_fd), "N", "socket for requests"},
	{"--cgroup-fd", CGROUPS, FIELD(cgroup_fds), "N",
	 "cgroup.procs of a cgroup to enter first; may be given several times"},
	{"--user", IDENTITY, FIELD(user), "U", "with --group: become this user, from root"},
	{"--group", IDENTITY, FIELD(group), "G", "and of this group"},
	{"--socket", SHOWN, FIELD(socket), "F", "name of the socket for requests"},
	{"--cpus", TEXT, FIELD(cpus), "LIST", "the step's CPUs on this node"},
	{"--idle", TEXT, FIELD(idle), "LIST",
	 "CPUs beside the step's that the ranks may use (grow=job); --cpus has them too"},
	{"--policy", TEXT, FIELD(policy), "P[,K=V]", "as in srun --balance"},
	{"--step", TEXT, FIELD(step), "S", "the step's name in reports"},
	{"--node", TEXT, FIELD(node), "N", "the node's name in reports"},
	{"--libdir", TEXT, FIELD(libdir), "D", "where loadable policies and what runs them are"},
	{"--users-own", TEXT, FIELD(users_own), "D", "where the user's own loadable policies are"},
	{"--policies", TEXT, FIELD(allowed), "LIST", "those that malleable set may set"},
	{"--job-name", TEXT, FIELD(job_name), "S", "the job's name, for names of files"},
	{"--array-job", TEXT, FIELD(array_job), "N", "the job of the whole array, for them too"},
	{"--array-task", TEXT, FIELD(array_task), "N", "the job's number in it"},
	{"--node-number", NUMBER, FIELD(node_number), "N", "which of the step's nodes it is"},
	{"--node-files", NUMBER, FIELD(node_files), "1", "each node has files of its own"},
	{"--report-file", TEXT, FIELD(report_file), "F", "where the report goes as JSON"},
	{"--brief", NUMBER, FIELD(brief), "1", "of the report as text the verdict alone"},
	{"--site-fd", FD, FIELD(site_fd), "N", "where the report goes as JSON for the site"},
	{"--trace-file", TEXT, FIELD(trace_file), "F", "where the step is recorded"},
	{"--off-file", TEXT, FIELD(off_file), "F",
	 "while this file of root is there nothing is balanced"},
	{"--min-cpus", NUMBER, FIELD(min_cpus), "N",
	 "every rank keeps so many CPUs, where there are enough"},
	{"--patience", NUMBER, FIELD(patience), "N", "factor for all deadlines"},
	{"--nodes", NUMBER, FIELD(nodes), "N", "the step is over so many"},
	{"--layout", NUMBER, FIELD(layout), "N", "of the segment, which is refused if it differs"},
};
#undef FIELD

#define COUNT (sizeof(table) / sizeof(table[0]))

_Static_assert(2 * (COUNT + MAL_ARGUMENTS_CGROUPS) <= MAL_ARGUMENTS_MAX, "a line for all of them");

void mal_arguments_format(const struct mal_arguments *arguments, const char *program,
			  struct mal_command_line *line)
{
	*line = (struct mal_command_line){.shown = {{program}, 1}};
	for (size_t i = 0; i < COUNT; i++)
		write(line, arguments, &table[i], (const char *)arguments + table[i].offset);
}

int mal_arguments_parse(int argc, char **argv, struct mal_arguments *arguments,
			struct mal_error *err)
{
	static const struct option end[] = {MAL_OPTIONS_END};
	struct option options[COUNT + sizeof(end) / sizeof(end[0])];
	const struct argument *taken;
	size_t count = 0;
	int option;

	for (; count < COUNT; count++)
		options[count] =
			(struct option){table[count].option + strlen("--"), required_argument, NULL,
					FIRST_OPTION + (int)count};
	memcpy(options + count, end, sizeof(end));
	while ((option = mal_option_next(argc, argv, false, options, err)) != MAL_OPTION_END) {
		if (option == 'h')
			return 0;
		if (option == 'V')
			return -2;
		if (option == '?')
			return -1;
		taken = &table[option - FIRST_OPTION];
		if (!read_word(arguments, taken->kind, (char *)arguments + taken->offset, optarg))
			return mal_fail(err, "%s %.32s: must be %s", taken->option, optarg,
					taken->kind == CGROUPS ? "one of at most 4 numbers"
							       : "a number");
	}
	return optind;
}

void mal_arguments_print(FILE *out)
{
	for (size_t i = 0; i < COUNT; i++) {
		int used = fprintf(out, "  %s %s", table[i].option, table[i].value);

		fprintf(out, "%*s%s\n", used < 22 ? 22 - used : 1, "", table[i].help);
	}
}
