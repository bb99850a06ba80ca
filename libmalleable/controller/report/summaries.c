/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* summaries.c: descriptions of the nodes of a step over several. */
#include "libmalleable/controller/report/summaries.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/number.h"
#include "libmalleable/controller/load/totals.h"
#include "libmalleable/controller/report/report_text.h"
#include "libmalleable/core/segment.h"

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

static void clear(struct mal_node *node)
{
	free(node->ranks);
	free(node->work);
	memset(node, 0, sizeof(*node));
}

void mal_summaries_destroy(struct mal_summaries *nodes)
{
	if (!nodes)
		return;
	for (unsigned int i = 0; i < nodes->count; i++)
		clear(&nodes->list[i]);
	free(nodes);
}

const struct mal_node *mal_summaries_list(const struct mal_controller *controller,
					  unsigned int *known, unsigned int *count)
{
	*known = controller->summaries->known;
	*count = controller->summaries->count;
	return controller->summaries->list;
}

/* Names of hosts only: it goes into a file that Slurm reads. */
static bool set_name(struct mal_node *node, const char *name, size_t length)
{
	if (!length || length >= MAL_NODE_NAME ||
	    strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_") <
		    length)
		return false;
	memcpy(node->name, name, length);
	node->name[length] = '\0';
	return true;
}

static bool make_room(struct mal_node *node, size_t ranks)
{
	if (!ranks || ranks > MAL_MAX_RANKS)
		return false;
	node->rank_count = (unsigned int)ranks;
	node->ranks = calloc(ranks, sizeof(*node->ranks));
	node->work = calloc(ranks, sizeof(*node->work));
	return node->ranks && node->work;
}

/* "0,1,2" */
static bool read_ranks(struct mal_node *node, const char *list)
{
	size_t count = 1;
	char *end;

	for (const char *at = list; *at; at++)
		count += *at == ',';
	if (!make_room(node, count))
		return false;
	for (size_t i = 0; i < count; i++, list = end + 1) {
		unsigned long rank = strtoul(list, &end, 10);

		if (end == list || rank >= UINT32_MAX || *end != (i + 1 < count ? ',' : '\0'))
			return false;
		node->ranks[i] = (uint32_t)rank;
	}
	return true;
}

static char *node_json(const struct mal_node *node)
{
	json_t *ranks = json_array(), *work = json_array(), *root;
	char *text;

	for (unsigned int i = 0; i < node->rank_count; i++) {
		json_array_append_new(ranks, json_integer(node->ranks[i]));
		json_array_append_new(work, json_real(node->work[i]));
	}
	root = json_pack("{s:s, s:s, s:I, s:o, s:o}", "node", node->name, "line", node->line,
			 "cpus", (json_int_t)node->cpus, "ranks", ranks, "work", work);
	text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
	json_decref(root);
	return text;
}

char *mal_summaries_describe(struct mal_controller *controller, const char *text)
{
	struct mal_summaries *nodes = controller->summaries;
	const char *list = strchr(text, ' ');
	struct mal_node own = {.name = ""};
	struct mal_report report;

	if (!nodes || !list || !mal_report_make(controller, &report))
		return NULL;
	if (!set_name(&own, text, (size_t)(list - text)) || !read_ranks(&own, list + 1) ||
	    own.rank_count > controller->step->segment.rank_count) {
		clear(&own);
		return NULL;
	}
	own.cpus = controller->step->cpu_count;
	for (unsigned int i = 0; i < own.rank_count; i++)
		own.work[i] =
			controller->rank_totals[i].work_s + controller->rank_totals[i].serial_s;
	mal_report_line(controller, &report, false, own.line, sizeof(own.line));
	own.line[strcspn(own.line, "\n")] = '\0';
	/* Asked for again, it replaces what was said before. */
	clear(&nodes->list[0]);
	nodes->list[0] = own;
	nodes->known += !nodes->known;
	return node_json(&nodes->list[0]);
}

static int parse(struct mal_node *node, json_t *root, struct mal_error *err)
{
	const char *name, *line;
	json_t *ranks, *work;
	json_int_t cpus;

	if (json_unpack(root, "{s:s, s:s, s:I, s:o, s:o}", "node", &name, "line", &line, "cpus",
			&cpus, "ranks", &ranks, "work", &work) < 0 ||
	    !set_name(node, name, strlen(name)) || strlen(line) >= MAL_NODE_LINE ||
	    strchr(line, '\n') || cpus < 1 || cpus > MAL_MAX_CPUS ||
	    json_array_size(ranks) != json_array_size(work) ||
	    !make_room(node, json_array_size(ranks)))
		return mal_fail(err, "malformed node summary");
	strcpy(node->line, line);
	node->cpus = (unsigned int)cpus;
	for (unsigned int i = 0; i < node->rank_count; i++) {
		json_int_t rank = json_integer_value(json_array_get(ranks, i));

		node->work[i] = json_number_value(json_array_get(work, i));
		if (rank < 0 || rank >= UINT32_MAX || !(node->work[i] >= 0) || node->work[i] > 1e12)
			return mal_fail(err, "node %s: rank %u is wrong", node->name, i);
		node->ranks[i] = (uint32_t)rank;
	}
	return 0;
}

int mal_summaries_expect(struct mal_controller *controller, const char *text, struct mal_error *err)
{
	struct mal_summaries *nodes = controller->summaries;
	unsigned int least = nodes && nodes->known > 2 ? nodes->known : 2;

	if (nodes && mal_number_parse(text, least, nodes->count, &nodes->count))
		return 0;
	return mal_fail(err, "this is no number of nodes");
}

int mal_summaries_add(struct mal_controller *controller, const char *text, struct mal_error *err)
{
	struct mal_summaries *nodes = controller->summaries;
	struct mal_node node = {.name = ""};
	json_t *root;
	int result;

	if (!nodes || !nodes->known || nodes->known == nodes->count)
		return mal_fail(err, "no node is missing");
	root = json_loads(text, 0, NULL);
	result = parse(&node, root, err);
	json_decref(root);
	for (unsigned int i = 0; result == 0 && i < nodes->known; i++)
		if (strcmp(nodes->list[i].name, node.name) == 0)
			result = mal_fail(err, "node %s is known", node.name);
	if (result == 0)
		nodes->list[nodes->known++] = node;
	else
		clear(&node);
	return result;
}

int mal_summaries_leave_to_other(struct mal_controller *controller, struct mal_error *err)
{
	if (!controller->summaries)
		return mal_fail(err, "there is no other node");
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
