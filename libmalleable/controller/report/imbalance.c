/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* imbalance.c: what is out of balance between the nodes of a step. */
#include "libmalleable/controller/report/imbalance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/json_number.h"
#include "libmalleable/controller/report/phrases.h"
#include "libmalleable/controller/report/summaries.h"

/* Nodes with a line each; of more, half of them from both ends are shown. */
#define SHOWN 4

static double load_of(const struct mal_node *node)
{
	return node->work_s / node->cpus;
}

/* What the nodes that are known have together. */
struct sums {
	unsigned int ranks, cpus;
	const struct mal_node *most; /* with most work per CPU */
	double balance;		     /* mean over largest work per CPU; NaN: none did any */
};

static struct sums sum_up(const struct mal_node *list, unsigned int known)
{
	struct sums sums = {.most = list, .balance = NAN};
	double work_s = 0;

	for (unsigned int i = 0; i < known; i++) {
		sums.ranks += list[i].ranks;
		sums.cpus += list[i].cpus;
		work_s += list[i].work_s;
		if (load_of(&list[i]) > load_of(sums.most))
			sums.most = &list[i];
	}
	if (load_of(sums.most) > 0)
		sums.balance = work_s / sums.cpus / load_of(sums.most);
	return sums;
}

static int by_load(const void *a, const void *b)
{
	const struct mal_node *const *left = a, *const *right = b;
	double difference = load_of(*right) - load_of(*left);

	return difference > 0 ? 1 : difference < 0 ? -1 : strcmp((*left)->name, (*right)->name);
}

/* A line for each of the nodes, or for those with most and with least work per CPU. */
static void add_nodes(struct mal_text *text, const struct mal_node *list, unsigned int known)
{
	const struct mal_node **sorted = calloc(known, sizeof(const struct mal_node *));
	bool all = known <= SHOWN;

	if (!sorted)
		return;
	for (unsigned int i = 0; i < known; i++)
		sorted[i] = &list[i];
	if (!all)
		qsort(sorted, known, sizeof(const struct mal_node *), by_load);
	for (unsigned int i = 0; i < known; i++) {
		if (all || i < SHOWN / 2 || i >= known - SHOWN / 2)
			mal_text_add(text, "%s\n", sorted[i]->line);
		else if (i == SHOWN / 2)
			mal_text_add(text, "... and %u node%s in between:\n", known - SHOWN,
				     mal_plural(known - SHOWN));
	}
	free(sorted);
}

size_t mal_imbalance_text(const struct mal_controller *controller, char *buffer, size_t size)
{
	struct mal_text text = {buffer, size, 0};
	unsigned int known, count;
	const struct mal_node *list = mal_summaries_list(controller, &known, &count);
	const struct sums sums = sum_up(list, known);

	if (!controller->step->arguments.brief)
		add_nodes(&text, list, known);
	if (known < count)
		mal_text_add(&text, "no report from %u of %u nodes\n", count - known, count);
	if (!isnan(sums.balance))
		mal_text_add(&text,
			     "%u node%s, %u rank%s, %u CPU%s: load balance between nodes "
			     "(mean/max) %.1f %%, most work per CPU on %s\n",
			     known, mal_plural(known), sums.ranks, mal_plural(sums.ranks),
			     sums.cpus, mal_plural(sums.cpus), 100 * sums.balance, sums.most->name);
	return text.length;
}

json_t *mal_imbalance_json(const struct mal_controller *controller)
{
	unsigned int known, count;
	const struct mal_node *node;
	json_t *nodes;

	if (mal_summaries_part(controller) != MAL_NODES_ALL)
		return json_null();
	nodes = json_array();
	node = mal_summaries_list(controller, &known, &count);
	for (unsigned int i = 0; i < known; i++)
		json_array_append_new(nodes, json_pack("{s:s, s:I, s:I, s:f}", "node", node[i].name,
						       "ranks", (json_int_t)node[i].ranks, "cpus",
						       (json_int_t)node[i].cpus, "work_s",
						       node[i].work_s));
	return json_pack("{s:I, s:o, s:o}", "nodes", (json_int_t)count, "load_balance",
			 mal_json_number(sum_up(node, known).balance), "per_node", nodes);
}
