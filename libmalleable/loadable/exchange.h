/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exchange.h: what goes to and fro between us and the process that runs a loaded policy: shared memory, and a socket for turns. */
#ifndef MAL_LOADABLE_EXCHANGE_H
#define MAL_LOADABLE_EXCHANGE_H

#include <sys/types.h>

#include "libmalleable/core/cpumask.h"
#include "libmalleable/core/error.h"
#include "libmalleable/core/segment.h"
#include "policies/choice.h"
#include "policies/policy.h"

#define MAL_EXCHANGE_TEXT 128

/* One parameter, described. */
struct mal_exchange_param {
	char name[MAL_SPEC_WORD];
	char help[MAL_EXCHANGE_TEXT];
	double fallback, least, most;
	char choices[MAL_EXCHANGE_TEXT]; /* empty: none */
};

/* Descriptors of the host, which is a program of its own, malleable-policy: it has nothing else of ours. */
#define MAL_HOST_EXCHANGE 3
#define MAL_HOST_SOCKET 4

struct mal_exchange {
	/* What the host is for: to describe the policy only, or to decide too, with these values. */
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
	/* A question. */
	bool sampled;
	unsigned int rank_count, cpu_count;
	unsigned int l3[MAL_MAX_CPUS], numa[MAL_MAX_CPUS], package[MAL_MAX_CPUS], core[MAL_MAX_CPUS],
		owner[MAL_MAX_CPUS];
	struct mal_sample samples[MAL_MAX_RANKS];
	/* The answer; count has the present numbers before. */
	int result;
	struct mal_plan plan; /* without its arrays */
	unsigned int count[MAL_MAX_RANKS];
	unsigned int use[MAL_MAX_RANKS];
	unsigned int plan_owner[MAL_MAX_CPUS];
};

/* A host at work. */
struct mal_host {
	pid_t pid;
	int socket;
	struct mal_exchange *exchange;
};

/*
 * Start a host from DIRECTORY that loads FILE and waits for questions with a policy made from VALUES; NULL: it only describes the
 * policy. Returns 0, or -1 with ERR. It ends with its last question, or when our end of the socket closes.
 */
int mal_host_start(struct mal_host *host, const char *directory, const char *file, const double *values,
		   struct mal_error *err);

/* Wait for an answer: NULL, or why there is none (static text). */
const char *mal_host_wait(struct mal_host *host);

/* Ask what the exchange holds, and wait. */
const char *mal_host_ask(struct mal_host *host);

/* End it and free what belongs to it. Safe where it was not started. */
void mal_host_end(struct mal_host *host);

#endif
