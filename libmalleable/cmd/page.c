/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* page.c: what malleable report says of a trace. */
#include "libmalleable/cmd/page.h"

#include <math.h>
#include <string.h>

#include "libmalleable/cmd/charts.h"
#include "libmalleable/cmd/html.h"
#include "policies/interface/attained.h"

void mal_page_row(struct mal_page_row *row, const char *name, const struct mal_trace *trace,
		  const struct mal_series *series, const struct mal_comparison *comparison)
{
	const struct mal_outcome *first = mal_simulation_outcome(comparison->list[0].simulation);

	*row = (struct mal_page_row){
		.ranks = trace->rank_count,
		.cpus = trace->topology.cpu_count,
		.off_s = first->off_s,
		.ideal_s = first->ideal_s,
		.part = mal_efficiencies(&series->all),
	};
	snprintf(row->name, sizeof(row->name), "%s", name);
	snprintf(row->step, sizeof(row->step), "%s", trace->step);
	snprintf(row->node, sizeof(row->node), "%s", trace->node);
	snprintf(row->policy, sizeof(row->policy), "%s", trace->policy);
	for (size_t i = 0; i < trace->window_count; i++)
		row->recorded_s += trace->windows[i].elapsed_s;
}

/* A cell with a share; a little more than all of it is noise. */
static void put_percent(FILE *out, double share)
{
	if (isnan(share))
		fputs("<td>-</td>", out);
	else
		fprintf(out, "<td>%.1f %%</td>", 100 * fmin(share, 1));
}

static void put_text(FILE *out, const char *text)
{
	fputs("<td>", out);
	mal_html_text(out, text);
	fputs("</td>", out);
}

void mal_page_compare(FILE *out, const struct mal_page_row *rows, size_t count)
{
	fputs("<h2>Runs compared</h2>\n<table class=\"runs\">\n<tr><th>trace</th><th>step</th>"
	      "<th>node</th><th>policy</th><th>ranks</th><th>CPUs</th><th>recorded s</th>"
	      "<th>unbalanced s</th><th>at best s</th><th>efficiency</th><th>load balance</th>"
	      "</tr>\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		fputs("<tr>", out);
		put_text(out, rows[i].name);
		put_text(out, rows[i].step);
		put_text(out, rows[i].node);
		put_text(out, rows[i].policy);
		fprintf(out, "<td>%u</td><td>%u</td><td>%.3f</td><td>%.3f</td><td>%.3f</td>",
			rows[i].ranks, rows[i].cpus, rows[i].recorded_s, rows[i].off_s,
			rows[i].ideal_s);
		put_percent(out, rows[i].part.parallel);
		put_percent(out, rows[i].part.load_balance);
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
}

/* In words: was it worth it, could it be? */
static void say_verdict(FILE *out, const struct mal_page_row *row)
{
	double gain = row->off_s / row->ideal_s;
	double got = row->recorded_s > 0 ? row->off_s / row->recorded_s : 0;

	fprintf(out, "<p class=\"verdict\">%.3f s were recorded. ", row->recorded_s);
	if (isnan(mal_attained(row->off_s, row->ideal_s, row->recorded_s)))
		fputs("The step is balanced as it is: there is nothing to gain.", out);
	else if (strcmp(row->policy, "observe") == 0 || strcmp(row->policy, "off") == 0)
		fprintf(out,
			"Nothing was balanced. At best it would be %.2f times as fast: %.3f s.",
			gain, row->ideal_s);
	else if (got > 1)
		fprintf(out,
			"That is %.2f times as fast as without balancing, by the model: %.3f s "
			"unbalanced, %.3f s at best.",
			got, row->off_s, row->ideal_s);
	else
		fprintf(out,
			"Nothing was gained: the model says %.3f s unbalanced, %.3f s at best.",
			row->off_s, row->ideal_s);
	fputs("</p>\n", out);
}

static void put_factor(FILE *out, const char *class, double share, const char *text)
{
	fprintf(out, "<li><b class=\"%s\">", class);
	if (isnan(share))
		fputc('-', out);
	else
		fprintf(out, "%.1f %%", 100 * fmin(share, 1));
	fprintf(out, "</b> %s", text);
}

static void put_tree(FILE *out, const struct mal_efficiencies *part)
{
	fputs("<h3>Where the CPUs' time went</h3>\n<p class=\"note\">Each is the product of those "
	      "below it; 100 % means that nothing is lost there (malleable-report(5)).</p>\n"
	      "<ul class=\"tree\">\n",
	      out);
	put_factor(out, "parallel", part->parallel,
		   "parallel efficiency: useful work\n<ul class=\"tree\">");
	put_factor(out, "mpi", part->mpi,
		   "MPI: not lost while ranks are in MPI\n<ul class=\"tree\">");
	put_factor(out, "load_balance", part->load_balance,
		   "load balance: not lost to waiting for other ranks</li>\n");
	put_factor(out, "communication", part->communication,
		   "communication: not lost to exchange between all</li>\n</ul></li>\n");
	put_factor(out, "openmp", part->openmp,
		   "OpenMP: not lost inside the ranks\n<ul class=\"tree\">");
	put_factor(out, "serial", part->serial,
		   "serial parts: not lost while one thread works alone</li>\n");
	put_factor(out, "regions", part->regions,
		   "regions: not lost at barriers and in uneven loops</li>\n</ul></li>\n");
	fputs("</ul></li>\n</ul>\n", out);
}

/* The same figures as malleable replay prints. */
static void put_policies(FILE *out, const struct mal_comparison *comparison)
{
	fputs("<h3>What each policy would make of it</h3>\n<p class=\"note\">Predicted by "
	      "<code>malleable replay</code>: the time, that time over the one without balancing, "
	      "and the part of the possible gain.</p>\n<table class=\"policies\">\n"
	      "<tr><th>policy</th><th>predicted s</th><th>to off</th><th>share</th><th>moves</th>"
	      "</tr>\n",
	      out);
	for (size_t i = 0; i < comparison->count; i++) {
		const struct mal_outcome *outcome =
			mal_simulation_outcome(comparison->list[i].simulation);
		char to_off[32], share[32];

		fputs("<tr>", out);
		put_text(out, comparison->list[i].spec);
		fprintf(out, "<td>%.3f</td><td>%s</td><td>%s</td><td>%lu</td></tr>\n",
			outcome->elapsed_s,
			mal_compare_number(outcome->elapsed_s / outcome->off_s, 4, to_off,
					   sizeof(to_off)),
			mal_compare_number(mal_outcome_attained(outcome), 3, share, sizeof(share)),
			outcome->moves);
		if (outcome->rejection) {
			fputs("<tr><td colspan=\"5\">rejected: ", out);
			mal_html_text(out, outcome->rejection);
			fputs("</td></tr>\n", out);
		}
	}
	fputs("</table>\n", out);
}

static void put_ranks(FILE *out, const struct mal_trace *trace, const struct mal_series *series)
{
	fputs("<h3>The ranks</h3>\n<p class=\"note\">Seconds, all recorded windows together. Work "
	      "and idle count each thread; serial is one thread alone, in MPI its waiting too.</p>"
	      "\n<table class=\"ranks\">\n<tr><th>rank</th><th>CPUs at first</th><th>in the "
	      "end</th>"
	      "<th>work s</th><th>serial s</th><th>in MPI s</th><th>idle in regions s</th></tr>\n",
	      out);
	for (unsigned int rank = 0; rank < trace->rank_count; rank++) {
		const struct mal_series_rank *sum = &series->ranks[rank];

		fprintf(out,
			"<tr><td>%u</td><td>%u</td><td>%u</td><td>%.3f</td><td>%.3f</td>"
			"<td>%.3f</td><td>%.3f</td></tr>\n",
			rank, sum->cpus_first, sum->cpus_last, sum->work_s, sum->serial_s,
			sum->mpi_s, sum->barrier_s);
	}
	fputs("</table>\n", out);
}

void mal_page_trace(FILE *out, const struct mal_page_row *row, const struct mal_trace *trace,
		    const struct mal_series *series, const struct mal_comparison *comparison)
{
	fputs("<h2>Step ", out);
	mal_html_text(out, row->step);
	fputs(" on ", out);
	mal_html_text(out, row->node);
	fputs("</h2>\n<p>Policy ", out);
	mal_html_text(out, row->policy);
	fprintf(out, ", %u ranks, %u CPUs, %zu windows%s; from ", row->ranks, row->cpus,
		trace->window_count, trace->cut ? " (the last line is not finished)" : "");
	mal_html_text(out, row->name);
	fputs("</p>\n", out);
	say_verdict(out, row);
	mal_chart_lanes(
		out, series, series->active, trace->rank_count, "work",
		"Work of each rank over time",
		"How many CPUs worked for a rank, on average. Dark where it waits; ranks that "
		"differ are out of balance.");
	mal_chart_lanes(
		out, series, series->cpus, trace->rank_count, "cpus", "CPUs of each rank over time",
		"How many CPUs a rank owns. CPUs that are lent for a moment stay with their "
		"owner here.");
	mal_chart_efficiencies(out, series);
	put_tree(out, &row->part);
	put_policies(out, comparison);
	put_ranks(out, trace, series);
}
