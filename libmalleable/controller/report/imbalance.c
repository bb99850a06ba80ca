/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* imbalance.c: what is out of balance between the nodes of a step. */
#include "libmalleable/controller/report/imbalance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/json_number.h"
#include "libmalleable/base/output.h"
#include "libmalleable/controller/report/phrases.h"
#include "libmalleable/controller/report/summaries.h"
#include "policies/mapping/placement.h"

/* Nodes with a line each; of more, half of them from both ends are shown. */
#define SHOWN 4
/* Another placement is worth being mentioned from here on. */
#define WORTH 0.01

static unsigned int count_ranks(const struct mal_imbalance *nodes)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < nodes->known; i++)
		count += nodes->list[i].rank_count;
	return count;
}

/*
 * Each rank's node and work, in the order of their numbers. False where a number is missing or
 * there twice.
 */
static bool read_placement(const struct mal_imbalance *nodes, unsigned int count,
			   unsigned int *node_of, double *work)
{
	for (unsigned int rank = 0; rank < count; rank++)
		node_of[rank] = UINT32_MAX;
	for (unsigned int i = 0; i < nodes->known; i++) {
		const struct mal_node *node = &nodes->list[i];

		for (unsigned int k = 0; k < node->rank_count; k++) {
			if (node->ranks[k] >= count || node_of[node->ranks[k]] != UINT32_MAX)
				return false;
			node_of[node->ranks[k]] = i;
			work[node->ranks[k]] = node->work[k];
		}
	}
	return true;
}

/* A line for each rank, for Slurm's SLURM_HOSTFILE with --distribution=arbitrary. */
static int write_hostfile(struct mal_controller *controller, const unsigned int *node_of,
			  unsigned int count)
{
	struct mal_imbalance *nodes = &controller->imbalance;
	FILE *file = mal_file_claim(&nodes->hostfile, controller->step->derived[MAL_FILE_HOSTFILE],
				    "hostfile", &controller->step->writer, nodes->own_hostfile,
				    sizeof(nodes->own_hostfile), &nodes->hostfile_error);

	if (!file)
		return -1;
	/* The lines on the placement name it. */
	nodes->hostfile_error.text[0] = '\0';
	fputs(MAL_OUTPUT_HOSTFILE, file);
	for (unsigned int rank = 0; rank < count; rank++)
		fprintf(file, "%s\n", nodes->list[node_of[rank]].name);
	return mal_output_close(file, nodes->hostfile, "hostfile", &nodes->hostfile_error);
}

static double load_of(const struct mal_node *node)
{
	double sum = 0;

	for (unsigned int i = 0; i < node->rank_count; i++)
		sum += node->work[i];
	return sum / node->cpus;
}

/* The most loaded one of those that are known. */
static const struct mal_node *most_loaded(const struct mal_imbalance *nodes)
{
	const struct mal_node *max = &nodes->list[0];

	for (unsigned int i = 1; i < nodes->known; i++)
		if (load_of(&nodes->list[i]) > load_of(max))
			max = &nodes->list[i];
	return max;
}

static unsigned int count_cpus(const struct mal_imbalance *nodes)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < nodes->known; i++)
		count += nodes->list[i].cpus;
	return count;
}

/* Mean over largest work per CPU of the nodes that are known. */
static double find_balance(const struct mal_imbalance *nodes)
{
	double sum = 0, max = load_of(most_loaded(nodes));

	for (unsigned int i = 0; i < nodes->known; i++)
		sum += load_of(&nodes->list[i]) * nodes->list[i].cpus;
	return max > 0 ? sum / count_cpus(nodes) / max : NAN;
}

static bool is_worth(const struct mal_imbalance *nodes)
{
	return nodes->possible >= nodes->balance + WORTH;
}

/* Where all ranks are known: how good their placement could be. */
static void find_placement(struct mal_controller *controller)
{
	struct mal_imbalance *nodes = &controller->imbalance;
	unsigned int count = count_ranks(nodes);
	unsigned int *node_of = calloc(count, sizeof(*node_of)),
		     *cpus = calloc(nodes->known, sizeof(*cpus));
	double *work = calloc(count, sizeof(*work)), *load = calloc(nodes->known, sizeof(*load));

	if (node_of && work && cpus && load && read_placement(nodes, count, node_of, work)) {
		struct mal_placement placement = {count, nodes->known, work, cpus, node_of};

		for (unsigned int i = 0; i < nodes->known; i++)
			cpus[i] = nodes->list[i].cpus;
		if (mal_placement_improve(&placement) >= 0) {
			nodes->possible = mal_placement_balance(&placement, load);
			/* Nobody is sent elsewhere for next to nothing. */
			if (!is_worth(nodes))
				read_placement(nodes, count, node_of, work);
			nodes->written =
				nodes->hostfile && write_hostfile(controller, node_of, count) == 0;
		}
	}
	free(node_of);
	free(work);
	free(cpus);
	free(load);
}

void mal_imbalance_find(struct mal_controller *controller)
{
	struct mal_imbalance *nodes = &controller->imbalance;

	if (mal_summaries_part(controller) != MAL_NODES_ALL)
		return;
	nodes->hostfile = controller->step->arguments.hostfile;
	nodes->possible = NAN;
	nodes->list = mal_summaries_list(controller, &nodes->known, &nodes->count);
	nodes->balance = find_balance(nodes);
	if (nodes->known == nodes->count && !isnan(nodes->balance))
		find_placement(controller);
}

static int by_load(const void *a, const void *b)
{
	const struct mal_node *const *left = a, *const *right = b;
	double difference = load_of(*right) - load_of(*left);

	return difference > 0 ? 1 : difference < 0 ? -1 : strcmp((*left)->name, (*right)->name);
}

/* A line for each of the nodes, or for those with most and with least work per CPU. */
static void add_nodes(struct mal_text *text, const struct mal_imbalance *nodes)
{
	const struct mal_node **sorted = calloc(nodes->known, sizeof(const struct mal_node *));
	bool all = nodes->known <= SHOWN;

	if (!sorted)
		return;
	for (unsigned int i = 0; i < nodes->known; i++)
		sorted[i] = &nodes->list[i];
	if (!all)
		qsort(sorted, nodes->known, sizeof(const struct mal_node *), by_load);
	for (unsigned int i = 0; i < nodes->known; i++) {
		if (all || i < SHOWN / 2 || i >= nodes->known - SHOWN / 2)
			mal_text_add(text, "%s\n", sorted[i]->line);
		else if (i == SHOWN / 2)
			mal_text_add(text,
				     "... and %u node%s with less work per CPU than these and more "
				     "than those:\n",
				     nodes->known - SHOWN, mal_plural(nodes->known - SHOWN));
	}
	free(sorted);
}

static void add_placement(struct mal_text *text, const struct mal_imbalance *nodes)
{
	if (*nodes->hostfile_error.text)
		mal_text_add(text, "%s\n", nodes->hostfile_error.text);
	else if (nodes->hostfile && !nodes->written)
		mal_text_add(text, "no hostfile was written: not all ranks are known\n");
	if (isnan(nodes->possible) || (nodes->hostfile && !nodes->written))
		return;
	if (!is_worth(nodes))
		mal_text_add(text, "no better placement of the ranks on the nodes was found%s%s\n",
			     nodes->written ? "; the present one is in " : "",
			     nodes->written ? nodes->hostfile : "");
	else if (nodes->written)
		mal_text_add(text,
			     "%.1f %% with ranks placed as in %s: SLURM_HOSTFILE=%s srun "
			     "--distribution=arbitrary\n",
			     100 * nodes->possible, nodes->hostfile, nodes->hostfile);
	else
		mal_text_add(text,
			     "%.1f %% if the ranks were placed otherwise: --balance-hostfile=FILE "
			     "writes how\n",
			     100 * nodes->possible);
}

size_t mal_imbalance_text(const struct mal_controller *controller, char *buffer, size_t size)
{
	const struct mal_imbalance *nodes = &controller->imbalance;
	struct mal_text text = {buffer, size, 0};

	if (!controller->step->arguments.brief)
		add_nodes(&text, nodes);
	if (nodes->known < nodes->count)
		mal_text_add(&text, "%u of %u nodes did not say what they did\n",
			     nodes->count - nodes->known, nodes->count);
	if (!isnan(nodes->balance)) {
		mal_text_add(&text,
			     "%u node%s, %u rank%s, %u CPU%s: load balance between nodes "
			     "(mean/max) %.1f %%, most work per CPU on %s\n",
			     nodes->known, mal_plural(nodes->known), count_ranks(nodes),
			     mal_plural(count_ranks(nodes)), count_cpus(nodes),
			     mal_plural(count_cpus(nodes)), 100 * nodes->balance,
			     most_loaded(nodes)->name);
		add_placement(&text, nodes);
	}
	return text.length;
}

json_t *mal_imbalance_json(const struct mal_controller *controller)
{
	const struct mal_imbalance *nodes = &controller->imbalance;
	json_t *list;

	if (mal_summaries_part(controller) != MAL_NODES_ALL)
		return json_null();
	list = json_array();
	for (unsigned int i = 0; i < nodes->known; i++) {
		const struct mal_node *node = &nodes->list[i];

		json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:f}", "node", node->name,
						      "ranks", (json_int_t)node->rank_count, "cpus",
						      (json_int_t)node->cpus, "work_s",
						      load_of(node) * node->cpus));
	}
	return json_pack("{s:I, s:o, s:o, s:o}", "nodes", (json_int_t)nodes->count, "load_balance",
			 mal_json_number(nodes->balance), "load_balance_possible",
			 mal_json_number(nodes->possible), "per_node", list);
}
