/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * settings_table.c: the table of settings.
 *
 * Invariant: each row is in the manual with its bounds (t/unit/test_settings.c:
 * man_pages_have_all_keys).
 */
#include "libmalleable/core/settings.h"

#include <string.h>

#include "libmalleable/base/patience.h"
#include "libmalleable/core/report_wish.h"

#define FIELD(container, field) \
	.offset = offsetof(struct container, field), .size = sizeof(((struct container *)0)->field)
#define OPTION(field) .place = MAL_SETTING_OPTION, FIELD(mal_user_options, field)
#define KEY(field) .place = MAL_SETTING_KEY, FIELD(mal_keys, field)
#define SITE(field) .place = MAL_SETTING_SITE, FIELD(mal_site, field)
#define TEXT .type = MAL_SETTING_TEXT, .value
#define PATH .type = MAL_SETTING_PATH, .value
#define WORDS .type = MAL_SETTING_WORD, .value
#define FLAG .type = MAL_SETTING_FLAG, .value = "yes|no"
#define NUMBER(from, to) .type = MAL_SETTING_NUMBER, .value = "N", .min = (from), .max = (to)

/* Texts are as the man pages have them: t/unit/test_settings.c compares. */
static const struct mal_setting table[] = {
	{"balance", OPTION(spec), TEXT = "[policy[,key=value...]]", .variable = "SLURM_BALANCE",
	 .help = "give the cores of waiting ranks to the ranks that still compute; the default "
		 "policy is auto, malleable policies lists all policies and keys"},
	{"balance-report", OPTION(report), TEXT = "[brief|full|off|file]",
	 .variable = "SLURM_BALANCE_REPORT",
	 .help = "report on a balanced step: its verdict alone (brief), all of it (full, the "
		 "default), nothing (off), or all of it and also as JSON in file"},
	{"balance-trace", OPTION(trace), TEXT = "file", .variable = "SLURM_BALANCE_TRACE",
	 .help = "record what a balanced step does in file, for malleable replay"},

	{"mode", KEY(mode), WORDS = "auto|team|cpuset",
	 .help = "which OpenMP teams change with the CPUs: those that cannot tell (auto), none "
		 "(cpuset), all (team): wrong results or crashes if anything is sized or indexed "
		 "by "
		 "thread"},
	{"gomp", KEY(keep_gomp), WORDS = "replace|keep",
	 .help = "run programs built for GCC's libgomp on libomp, or leave them on it"},
	{"dlb", KEY(dlb), FLAG,
	 .help = "answer the calls of programs that use DLB, in place of its library"},
	{"geopm", KEY(geopm), FLAG,
	 .help = "answer the profile calls of programs that use GEOPM: an epoch is a phase"},
	{"pages", KEY(pages), FLAG,
	 .help = "tell on which NUMA nodes the ranks' memory is, and on which they compute"},
	{"grow", KEY(grow_job), WORDS = "job", .min = 1, .policies_have = true,
	 .help = "use what other steps of the job leave idle on the node"},
	{"pool", KEY(pool_job), WORDS = "step|job",
	 .help = "with job: grow=job, and be balanced against other steps of the job with pool=job "
		 "on the node"},
	{"max_threads", KEY(max_threads), NUMBER(1, 4096),
	 .help = "number of threads that is reported to the program at first"},
	{"prove", KEY(prove), WORDS = "yes|no",
	 .help = "find out which parallel regions cannot tell how large their team is: only these "
		 "get other teams"},
	{"bits", KEY(bits), WORDS = "strict|keep|free", .min = 1,
	 .help = "what may change bits of results: nothing (strict, where nobody asked for "
		 "balancing), threads beside one alone (keep), or other numbers of threads in sums "
		 "too (free)"},

	{"default", SITE(fallback), TEXT = "policy[,key=value...]", .by_partition = true,
	 .help = "--balance of steps that ask for nothing"},
	{"policies", SITE(policies), TEXT = "name[,name...]", .by_partition = true,
	 .help = "policies that users may choose"},
	{"report", SITE(report), WORDS = MAL_REPORT_WORDS, .by_partition = true,
	 .help = "what is printed of steps that ask for nothing"},
	{"report_dir", SITE(report_dir), PATH = "directory", .help = "of all steps' JSON reports"},
	{"libdir", SITE(libdir), PATH = "directory", .help = "of malleabled and the libraries"},
	{"log", SITE(log), WORDS = "syslog|slurmd|no",
	 .help = "where the line for each balanced step goes"},
	{"min_cpus", SITE(min_cpus), NUMBER(1, 1024), .by_partition = true,
	 .help = "CPUs that each rank keeps"},
	{"max_overcommit", SITE(max_overcommit), NUMBER(1, 1024), .by_partition = true,
	 .help = "most threads per CPU that users may ask for"},
	{"wait", SITE(wait_s), NUMBER(1, 60),
	 .help = "seconds for which a step's start or end is held up at most"},
	{"patience", SITE(patience), NUMBER(1, MAL_PATIENCE_MAX),
	 .help = "for slow or stalled machines: multiplies each deadline of ours, wait= too"},
	{"off_file", SITE(off_file), PATH = "file",
	 .help = "nothing is balanced while this file of root's exists"},
};

#define COUNT (sizeof(table) / sizeof(table[0]))

const struct mal_setting *mal_setting_at(enum mal_setting_place place, size_t index)
{
	for (size_t i = 0; i < COUNT; i++)
		if (table[i].place == place && index-- == 0)
			return &table[i];
	return NULL;
}

const struct mal_setting *mal_setting_find(enum mal_setting_place place, const char *name,
					   size_t length)
{
	for (size_t i = 0; i < COUNT; i++)
		if (table[i].place == place && strlen(table[i].name) == length &&
		    memcmp(table[i].name, name, length) == 0)
			return &table[i];
	return NULL;
}
