/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * settings.h: everything that users and sites can set, in one table: names, values, bounds, help.
 *
 * A setting is a row in settings_table.c and a field below. Parsers, the usage of commands, and the
 * tests that compare the man pages with the table follow from the row. Parameters of a single
 * policy stand with that policy (policies/interface/policy.h).
 *
 * All functions are thread safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "libmalleable/base/error.h"

/* Options of srun, sbatch, salloc and `malleable run`: who runs a step. */
struct mal_user_options {
	bool given;	    /* --balance was given as an option */
	bool asked;	    /* as an option or in the environment, not by default= only */
	char spec[512];	    /* --balance */
	char policies[768]; /* MALLEABLE_POLICIES: directory of the user's own policies */
	char report[768];   /* --balance-report */
	char trace[768];    /* --balance-trace */
};

enum mal_mode_wish { MAL_WISH_AUTO, MAL_WISH_TEAM, MAL_WISH_CPUSET };
enum mal_prove_wish { MAL_PROVE_YES, MAL_PROVE_NO };
enum mal_bits_wish { MAL_BITS_UNSET, MAL_BITS_STRICT, MAL_BITS_KEEP, MAL_BITS_FREE };

/* KEY=VALUE in --balance, for all policies. All 0: nothing was said. */
struct mal_keys {
	unsigned int mode;	  /* enum mal_mode_wish */
	unsigned int max_threads; /* 0: not given */
	unsigned int prove;	  /* enum mal_prove_wish */
	unsigned int bits;	  /* enum mal_bits_wish */
	/* 1: */
	unsigned int grow_job;	/* the step may use CPUs that its job's other steps leave idle */
	unsigned int pool_job;	/* balance with the job's other such steps; needs grow_job */
	unsigned int keep_gomp; /* programs built for GCC's libgomp stay on it */
	unsigned int dlb;	/* DLB's names are ours */
	unsigned int geopm;	/* so are GEOPM's */
	unsigned int pages;	/* tell on which NUMA nodes the ranks' memory is */
};

/* Where the log line of a balanced step goes. */
enum mal_log { MAL_LOG_SYSLOG, MAL_LOG_SLURMD, MAL_LOG_NONE };

/* The field of the job that has it too. */

/* Arguments of the plugin in plugstack.conf. */
struct mal_site {
	char fallback[256];	     /* default=: --balance of steps that do not say; empty: off */
	char policies[256];	     /* allowed names, separated by commas; empty: all */
	char report_dir[512];	     /* directory of JSON reports of all steps; empty: none */
	char libdir[512];	     /* directory of the controller and the libraries */
	char off_file[512];	     /* the administrator's off switch (malleable admin) */
	unsigned int report;	     /* enum mal_report_wish: of steps that asked for nothing */
	unsigned int log;	     /* enum mal_log */
	unsigned int min_cpus;	     /* of each rank, if there are enough CPUs */
	unsigned int wait_s;	     /* longest delay of a step's start, and of its end */
	unsigned int patience;	     /* factor for all deadlines (base/patience.h) */
	unsigned int max_overcommit; /* most threads per CPU that users may ask for; 0: no limit */
};

/* Whose setting it is, and the struct that its field is in. */
enum mal_setting_place {
	MAL_SETTING_OPTION, /* --NAME of commands; struct mal_user_options */
	MAL_SETTING_KEY,    /* NAME=VALUE in --balance; struct mal_keys */
	MAL_SETTING_SITE,   /* NAME=VALUE in plugstack.conf; struct mal_site */
};

enum mal_setting_type {
	MAL_SETTING_TEXT,   /* char[] */
	MAL_SETTING_PATH,   /* char[]: an absolute path */
	MAL_SETTING_WORD,   /* unsigned int: which of the words, counted from min */
	MAL_SETTING_FLAG,   /* unsigned int: 1 for yes, 0 for no */
	MAL_SETTING_NUMBER, /* unsigned int, from min to max */
};

struct mal_setting {
	const char *name;
	enum mal_setting_place place;
	enum mal_setting_type type;
	/* WORD: the words, "auto|team|cpuset". Others: what stands for the value in help. */
	const char *value;
	unsigned int min, max;
	const char *help;
	bool by_partition;  /* SITE: NAME@PARTITION=VALUE is allowed too */
	bool policies_have; /* KEY: policies may have a parameter of this name, with other values */
	const char *variable; /* OPTION: where commands look if it is not given */
	size_t offset, size;  /* of its field */
};

/* The settings of PLACE one after the other, NULL after the last. */
const struct mal_setting *mal_setting_at(enum mal_setting_place place, size_t index);

/* The setting of PLACE whose name is the LENGTH bytes at NAME, or NULL. */
const struct mal_setting *mal_setting_find(enum mal_setting_place place, const char *name,
					   size_t length);

/*
 * Check TEXT and put it into SETTING's field of the struct at FIELDS. Returns 0, or -1 with ERR,
 * which names what is wanted, not the setting ("must be yes or no"), and the field as it was.
 */
int mal_setting_set(const struct mal_setting *setting, void *fields, const char *text,
		    struct mal_error *err);

/*
 * The value of SETTING's field in the struct at FIELDS as text, empty where nothing is set. Returns
 * TEXT.
 */
const char *mal_setting_format(const struct mal_setting *setting, const void *fields, char *text,
			       size_t size);

/* SETTING's field in the struct at FIELDS, of type TEXT or PATH. */
char *mal_setting_text(const struct mal_setting *setting, void *fields);

/* The place of TEXT among WORDS, which | separates, or -1. */
int mal_word_find(const char *words, const char *text);

/* All names of PLACE, separated by commas, in TEXT, which is cut at SIZE. Returns TEXT. */
const char *mal_setting_names(enum mal_setting_place place, char *text, size_t size);

/*
 * Print a paragraph for each setting of PLACE, in lines of 78 columns at most, as in a command's
 * usage: for OPTION those of `malleable run`.
 */
void mal_settings_print(FILE *out, enum mal_setting_place place);
