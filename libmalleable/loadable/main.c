/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * main.c: malleable-policy, the process that runs a loaded policy.
 *
 * Invariant: a policy gets nothing of the step but what the host sends (t/t1003-loadable.t).
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "libmalleable/base/hidden.h"
#include "libmalleable/base/option_parser.h"
#include "libmalleable/loadable/exchange.h"

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

static const struct mal_policy *load(const char *file, struct mal_exchange *exchange)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	const struct mal_policy *policy = library ? dlsym(library, "malleable_policy") : NULL;

	if (!policy)
		copy(exchange->error, sizeof(exchange->error), dlerror());
	return policy;
}

static void describe(const struct mal_policy *policy, struct mal_exchange *exchange)
{
	exchange->abi = policy->abi;
	/* Another version may have other fields. */
	if (policy->abi != MAL_POLICY_ABI)
		return;
	copy(exchange->name, sizeof(exchange->name), policy->name);
	copy(exchange->summary, sizeof(exchange->summary), policy->summary);
	exchange->param_count = policy->param_count;
	exchange->maps = policy->map != NULL;
	for (size_t i = 0; i < policy->param_count && i < MAL_CHOICE_PARAMS; i++) {
		struct mal_exchange_param *param = &exchange->params[i];

		copy(param->name, sizeof(param->name), policy->params[i].name);
		copy(param->help, sizeof(param->help), policy->params[i].help);
		param->fallback = policy->params[i].fallback;
		param->min = policy->params[i].min;
		param->max = policy->params[i].max;
		copy(param->choices, sizeof(param->choices), policy->params[i].choices);
	}
	if (!policy->decide)
		copy(exchange->error, sizeof(exchange->error), "it has no decide function");
}

static void answer(const struct mal_policy *policy, void *state, struct mal_exchange *exchange)
{
	struct mal_topology topology = {exchange->cpu_count, exchange->l3, exchange->numa,
					exchange->package, exchange->core};
	struct mal_view view = {&topology, exchange->rank_count,
				exchange->sampled ? exchange->samples : NULL, exchange->owner};
	struct mal_plan plan = {
		.count = exchange->count, .owner = exchange->plan_owner, .use = exchange->use};

	exchange->result = policy->decide(state, &view, &plan);
	if (exchange->result >= 0 && plan.move && view.samples && policy->map)
		policy->map(state, &view, &plan);
	exchange->plan = plan;
}

static void notify(void)
{
	if (send(MAL_HOST_SOCKET, "", 1, MSG_NOSIGNAL) != 1)
		exit(1);
}

static const char usage[] = "FILE\n\n"
			    "Runs a loadable policy for malleabled; of no use by itself.\n\n"
			    "  --help, --version\n";

static const struct mal_tool tool = {.name = "malleable-policy", .usage = usage};

int main(int argc, char **argv)
{
	struct mal_exchange *exchange;
	const struct mal_policy *policy;
	void *state = NULL;
	char byte;

	mal_hidden_take(&argc, &argv);
	mal_option(&tool, argc, argv, false, NULL);
	if (optind + 1 != argc)
		mal_option_wrong(&tool, "give one file");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* We report a crash; a core file is of no use. */
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	exchange = mmap(NULL, sizeof(*exchange), PROT_READ | PROT_WRITE, MAP_SHARED,
			MAL_HOST_EXCHANGE, 0);
	if (exchange == MAP_FAILED) {
		fputs("malleable-policy: only malleabled can start it\n", stderr);
		return 2;
	}
	policy = load(argv[optind], exchange);
	if (policy)
		describe(policy, exchange);
	if (policy && exchange->decides && !exchange->error[0] && policy->create) {
		state = policy->create(exchange->values);
		if (!state)
			copy(exchange->error, sizeof(exchange->error),
			     "it cannot create its state");
	}
	notify();
	while (exchange->decides && !exchange->error[0] &&
	       recv(MAL_HOST_SOCKET, &byte, 1, 0) == 1) {
		answer(policy, state, exchange);
		notify();
	}
	return 0;
}
