/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* summaries.c: descriptions of the nodes of a step over several. */
#include "libmalleable/controller/report/summaries.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/number.h"
#include "libmalleable/controller/report/report_text.h"
#include "libmalleable/core/segment.h"

/* What no node can have done. */
#define MAX_WORK_S 1e12

struct mal_summaries {
	unsigned int count; /* of the step */
	unsigned int known;
	bool elsewhere;		/* another node's controller reports */
	struct mal_node list[]; /* the known ones, ours first */
};

struct mal_summaries *mal_summaries_create(unsigned int count)
{
	struct mal_summaries *nodes = calloc(1, sizeof(*nodes) + count * sizeof(nodes->list[0]));

	if (nodes)
		nodes->count = count;
	return nodes;
}

const struct mal_node *mal_summaries_list(const struct mal_controller *controller,
					  unsigned int *known, unsigned int *count)
{
	*known = controller->summaries->known;
	*count = controller->summaries->count;
	return controller->summaries->list;
}

/* Names of hosts only. */
static bool set_name(struct mal_node *node, const char *name)
{
	size_t length = strlen(name);

	if (!length || length >= MAL_NODE_NAME ||
	    strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_") <
		    length)
		return false;
	strcpy(node->name, name);
	return true;
}

char *mal_summaries_describe(struct mal_controller *controller, const char *text)
{
	struct mal_summaries *nodes = controller->summaries;
	struct mal_node own = {.cpus = controller->step->cpu_count};
	struct mal_report report;
	json_t *root;
	char *answer;

	if (!nodes || !mal_report_make(controller, &report) || !set_name(&own, text))
		return NULL;
	own.ranks = report.ranks;
	for (unsigned int i = 0; i < controller->step->segment.rank_count; i++)
		own.work_s +=
			controller->rank_totals[i].work_s + controller->rank_totals[i].serial_s;
	mal_report_line(controller, &report, false, own.line, sizeof(own.line));
	own.line[strcspn(own.line, "\n")] = '\0';
	/* Asked for again, it replaces what was said before. */
	nodes->list[0] = own;
	nodes->known += !nodes->known;
	root = json_pack("{s:s, s:s, s:I, s:I, s:f}", "node", own.name, "line", own.line, "cpus",
			 (json_int_t)own.cpus, "ranks", (json_int_t)own.ranks, "work_s",
			 own.work_s);
	answer = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(6));
	json_decref(root);
	return answer;
}

static int parse(struct mal_node *node, json_t *root, struct mal_error *err)
{
	const char *name, *line;
	json_int_t cpus, ranks;

	if (json_unpack(root, "{s:s, s:s, s:I, s:I, s:F}", "node", &name, "line", &line, "cpus",
			&cpus, "ranks", &ranks, "work_s", &node->work_s) < 0 ||
	    !set_name(node, name) || strlen(line) >= MAL_NODE_LINE || strchr(line, '\n') ||
	    cpus < 1 || cpus > MAL_MAX_CPUS || ranks < 1 || ranks > MAL_MAX_RANKS ||
	    !(node->work_s >= 0) || node->work_s > MAX_WORK_S)
		return mal_fail(err, "malformed node summary");
	strcpy(node->line, line);
	node->cpus = (unsigned int)cpus;
	node->ranks = (unsigned int)ranks;
	return 0;
}

int mal_summaries_expect(struct mal_controller *controller, const char *text, struct mal_error *err)
{
	struct mal_summaries *nodes = controller->summaries;
	unsigned int least = nodes && nodes->known > 2 ? nodes->known : 2;

	if (nodes && mal_number_parse(text, least, nodes->count, &nodes->count))
		return 0;
	return mal_fail(err, "not a number of nodes of this step");
}

int mal_summaries_add(struct mal_controller *controller, const char *text, struct mal_error *err)
{
	struct mal_summaries *nodes = controller->summaries;
	struct mal_node node = {.name = ""};
	json_t *root;
	int result;

	if (!nodes || !nodes->known || nodes->known == nodes->count)
		return mal_fail(err, "all nodes have reported");
	root = json_loads(text, 0, NULL);
	result = parse(&node, root, err);
	json_decref(root);
	for (unsigned int i = 0; result == 0 && i < nodes->known; i++)
		if (strcmp(nodes->list[i].name, node.name) == 0)
			result = mal_fail(err, "node %s has already reported", node.name);
	if (result == 0)
		nodes->list[nodes->known++] = node;
	return result;
}

int mal_summaries_leave_to_other(struct mal_controller *controller, const char *text,
				 struct mal_error *err)
{
	(void)text;
	if (!controller->summaries)
		return mal_fail(err, "the step has no other node");
	controller->summaries->elsewhere = true;
	return 0;
}

enum mal_summaries_part mal_summaries_part(const struct mal_controller *controller)
{
	if (!controller->summaries)
		return MAL_NODES_ONE;
	if (controller->summaries->elsewhere)
		return MAL_NODES_NONE;
	return controller->summaries->known > 1 ? MAL_NODES_ALL : MAL_NODES_ONE;
}
