/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exchange.h: the host process of a loaded policy: starting and ending it, the memory that we share
 * with it, and taking turns.
 *
 * Not thread safe for one host.
 */
#pragma once

#include <sys/types.h>

#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/error.h"
#include "libmalleable/core/segment.h"
#include "policies/interface/choice.h"
#include "policies/interface/policy.h"

#define MAL_EXCHANGE_TEXT 128

/* A described parameter. */
struct mal_exchange_param {
	char name[MAL_SPEC_WORD];
	char help[MAL_EXCHANGE_TEXT];
	double fallback, min, max;
	char choices[MAL_EXCHANGE_TEXT]; /* empty: none */
};

/*
 * The host's descriptors. It is a program of its own, malleable-policy, and inherits nothing else.
 */
#define MAL_HOST_EXCHANGE 3
#define MAL_HOST_SOCKET 4

struct mal_exchange {
	/*
	 * What the host is for: to describe its policy only, or also to decide, with these values.
	 */
	bool decides;
	double values[MAL_CHOICE_PARAMS];
	/* The host describes its policy, or says why it cannot. */
	char error[256];
	unsigned int abi;
	char name[MAL_SPEC_WORD];
	char summary[MAL_EXCHANGE_TEXT];
	size_t param_count;
	struct mal_exchange_param params[MAL_CHOICE_PARAMS];
	bool maps;
	/* A question to the policy. */
	bool sampled;
	unsigned int rank_count, cpu_count;
	unsigned int l3[MAL_MAX_CPUS], numa[MAL_MAX_CPUS], package[MAL_MAX_CPUS],
		core[MAL_MAX_CPUS], owner[MAL_MAX_CPUS];
	struct mal_sample samples[MAL_MAX_RANKS];
	/* The answer. COUNT, USE and PLAN_OWNER are set to the present state before. */
	int result;
	struct mal_plan plan; /* without its arrays */
	unsigned int count[MAL_MAX_RANKS];
	unsigned int use[MAL_MAX_RANKS];
	unsigned int plan_owner[MAL_MAX_CPUS];
};

/* A running host. */
struct mal_host {
	pid_t pid;
	int socket;
	struct mal_exchange *exchange;
};

/*
 * Start a host from DIRECTORY that loads FILE. With VALUES it creates a policy and waits for
 * questions; with NULL it only describes the policy. It ends when our end of the socket closes.
 * Returns 0, or -1 with ERR.
 */
int mal_host_start(struct mal_host *host, const char *directory, const char *file,
		   const double *values, struct mal_error *err);

/* Wait for an answer, a second at most. Returns NULL, or why there is none (static text). */
const char *mal_host_wait(struct mal_host *host);

/* Ask the question in the exchange, and wait. Returns like mal_host_wait(). */
const char *mal_host_ask(struct mal_host *host);

/* End the host at once and free what belongs to it, its exchange too, if it was started. */
void mal_host_end(struct mal_host *host);
