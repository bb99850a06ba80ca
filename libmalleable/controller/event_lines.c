/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* event_lines.c: what happens in the step, as lines of JSON for those who read it. */
#include "libmalleable/controller/event_lines.h"

#include <stdarg.h>
#include <stdio.h>

#include "libmalleable/base/clock.h"
#include "libmalleable/controller/clients.h"
#include "libmalleable/controller/cpus/owners.h"

static bool is_moving(const struct mal_controller *controller)
{
	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if (mal_owner_next(controller, controller->step->cpu[i]) <
		    controller->step->segment.rank_count)
			return true;
	return false;
}

static void read_now(const struct mal_controller *controller, struct mal_events *events)
{
	*events = (struct mal_events){
		.policy = controller->deciding.policy,
		.plans = controller->deciding.plans,
		.moving = is_moving(controller),
	};
	mal_read_owners(controller, events->owners);
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		events->running[rank] = controller->ranks[rank].running;
}

static void tell(struct mal_controller *controller, const char *event, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* FORMAT is what is told beside the name of the EVENT and the time. */
static void tell(struct mal_controller *controller, const char *event, const char *format, ...)
{
	double at_s = mal_ticks_to_s(mal_ticks() - controller->step->started);
	char line[512];
	int used = snprintf(line, sizeof(line), "{\"event\":\"%s\",\"at_s\":%.6f", event, at_s);
	va_list args;

	va_start(args, format);
	used += vsnprintf(line + used, sizeof(line) - (size_t)used, format, args);
	va_end(args);
	used += snprintf(line + used, sizeof(line) - (size_t)used, "}\n");
	mal_clients_tell(controller, line, (size_t)used);
}

/* A rank as JSON, into TEXT. */
static const char *rank_text(const struct mal_controller *controller, unsigned int rank, char *text)
{
	if (rank >= controller->step->segment.rank_count)
		return "null";
	sprintf(text, "%u", rank);
	return text;
}

static void tell_owners(struct mal_controller *controller, const struct mal_events *before,
			const struct mal_events *now)
{
	char from[16], to[16];

	for (unsigned int i = 0; i < controller->step->cpu_count; i++)
		if (before->owners[i] != now->owners[i])
			tell(controller, "moved", ",\"cpu\":%u,\"from\":%s,\"to\":%s",
			     controller->step->cpu[i],
			     rank_text(controller, before->owners[i], from),
			     rank_text(controller, now->owners[i], to));
}

void mal_events_begin(struct mal_controller *controller)
{
	if (!mal_clients_read(controller))
		read_now(controller, &controller->events_own);
}

bool mal_events_look(struct mal_controller *controller)
{
	struct mal_events *events = &controller->events_own, now;

	if (!mal_clients_read(controller))
		return false;
	read_now(controller, &now);
	for (unsigned int rank = 0; rank < controller->step->segment.rank_count; rank++)
		if (events->running[rank] != now.running[rank])
			tell(controller, "rank", ",\"rank\":%u,\"running\":%s", rank,
			     now.running[rank] ? "true" : "false");
	if (events->policy != now.policy)
		tell(controller, "policy", ",\"policy\":\"%s\"", now.policy->name);
	if (events->plans != now.plans)
		tell(controller, "plan", ",\"plan\":%u", now.plans);
	tell_owners(controller, events, &now);
	if (!now.moving && (events->moving || events->plans != now.plans))
		tell(controller, "settled", ",\"plan\":%u", now.plans);
	*events = now;
	return true;
}
