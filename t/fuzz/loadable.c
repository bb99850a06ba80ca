/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * loadable.c: what the host of a loadable policy writes into the exchange: its description, then
 * its answers.
 */
#include <stdlib.h>

#include "policies/decide/decision.h"
#include "t/fuzz/fuzz.h"
#include "t/unit/host.h"

/* The host writes anywhere, also while it is not asked. */
const char *mal_host_wait(struct mal_host *host)
{
	static const size_t places[] = {
		offsetof(struct mal_exchange, error),	  offsetof(struct mal_exchange, summary),
		offsetof(struct mal_exchange, params),	  offsetof(struct mal_exchange, result),
		offsetof(struct mal_exchange, count),	  offsetof(struct mal_exchange, use),
		offsetof(struct mal_exchange, plan_owner)};

	while (fuzz_left > 2) {
		size_t at = places[fuzz_byte() % 7] + fuzz_byte() * (size_t)4;

		if (at + 8 <= sizeof(exchange))
			fuzz_take((char *)host->exchange + at, 8);
		if (fuzz_byte() % 4 == 0)
			break;
	}
	return NULL;
}

const char *mal_host_ask(struct mal_host *host)
{
	return mal_host_wait(host);
}

static void ask(const struct mal_policy *policy, void *state)
{
	static const unsigned int zeros[8];
	unsigned int count[4], use[4], plan_owner[8], owner[8] = {0, 0, 1, 1, 2, 2, 3, 3};
	struct mal_topology topology = {8, zeros, zeros, zeros, NULL};
	struct mal_sample samples[4] = {{0}};
	struct mal_view view = {&topology, 4, samples, owner};
	struct mal_plan plan = {.count = count, .owner = plan_owner, .use = use};
	const char *rejection;

	for (unsigned int rank = 0; rank < 4; rank++)
		samples[rank] = (struct mal_sample){
			.running = true, .elapsed_s = 1, .work_s = rank, .cpus = 2};
	if (mal_decide(policy, state, &view, &plan, &rejection) == MAL_DECISION_MADE && plan.move)
		for (unsigned int cpu = 0; cpu < 8; cpu++)
			if (plan_owner[cpu] > 4)
				abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const double values[MAL_CHOICE_PARAMS];
	static struct loaded *const loaded = &table[0];
	struct mal_error err;

	fuzz_begin(data, size);
	memset(&exchange, 0, sizeof(exchange));
	memset(loaded, 0, sizeof(*loaded));
	exchange.abi = MAL_POLICY_ABI;
	strcpy(exchange.name, "site");
	strcpy(loaded->name, "site");
	exchange.param_count = fuzz_byte();
	mal_host_wait(&(struct mal_host){2, 2, &exchange});
	if (take_description(loaded, &exchange, &err) == 0) {
		void *state = loaded->policy.create(values);

		for (unsigned int i = 0; fuzz_left > 2 && i < 16; i++)
			ask(&loaded->policy, state);
		destroy(state);
	}
	return 0;
}
