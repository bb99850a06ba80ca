/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* charts.c: pictures of a trace, as SVG. */
#include "libmalleable/cmd/charts.h"

#include <math.h>

#include "libmalleable/cmd/html.h"

/* Units of the picture: the lanes or lines lie between LEFT and RIGHT. */
#define LEFT 90.0
#define RIGHT 990.0
#define WIDTH 1000.0
#define LINES_HEIGHT 160.0
#define TICKS 5

static double end_of(const struct mal_series *series)
{
	double end = series->columns[series->column_count - 1].end_s;

	return end > 0 ? end : 1;
}

static double place(const struct mal_series *series, double seconds)
{
	return LEFT + (RIGHT - LEFT) * seconds / end_of(series);
}

static void begin(FILE *out, const char *class, const char *title, const char *note, double height)
{
	fprintf(out, "<figure class=\"%s\">\n<h3>%s</h3>\n<figcaption>%s</figcaption>\n", class,
		title, note);
	fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">\n", WIDTH,
		height, title);
}

static void end(FILE *out)
{
	fputs("</svg>\n</figure>\n", out);
}

static void draw_time(FILE *out, const struct mal_series *series, double y)
{
	fprintf(out, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>\n", LEFT, y, RIGHT);
	for (int i = 0; i <= TICKS; i++) {
		double seconds = end_of(series) * i / TICKS;

		fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%.*f s</text>\n",
			place(series, seconds), y + 14, i == TICKS ? "end" : "middle",
			end_of(series) < 10 ? 2 : 0, seconds);
	}
}

static int colour_of(const struct mal_series *series, double value)
{
	int colour =
		series->max > 0 ? (int)(value / series->max * (MAL_HTML_COLOURS - 1) + 0.5) : 0;

	return colour < 0 ? 0 : colour < MAL_HTML_COLOURS ? colour : MAL_HTML_COLOURS - 1;
}

/* From column FROM on: those that look the same and lie side by side. */
static size_t run_of(const struct mal_series *series, const double *values, size_t from)
{
	size_t next = from + 1;

	while (next < series->column_count &&
	       fabs(values[next] - values[from]) < series->max / (2 * MAL_HTML_COLOURS) &&
	       series->columns[next].begin_s - series->columns[next - 1].end_s <
		       end_of(series) / 400)
		next++;
	return next;
}

static void draw_run(FILE *out, const struct mal_series *series, const double *values, size_t from,
		     size_t next, double y, double height)
{
	double begin_s = series->columns[from].begin_s, end_s = series->columns[next - 1].end_s;
	double x = place(series, begin_s), width = place(series, end_s) - x, mean = 0;
	int colour;

	for (size_t i = from; i < next; i++)
		mean += values[i] / (double)(next - from);
	colour = colour_of(series, mean);
	fprintf(out,
		"<rect class=\"c%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
		"<title>%.2f CPUs, %.2f s to %.2f s</title></rect>\n",
		colour, x, y, width > 0.5 ? width : 0.5, height, mean, begin_s, end_s);
	if (width > 34 && height >= 11)
		fprintf(out, "<text class=\"in%s\" x=\"%.1f\" y=\"%.1f\">%.*f</text>\n",
			colour > 4 ? " dark" : "", x + width / 2, y + height / 2 + 4,
			fabs(mean - round(mean)) < 0.05 ? 0 : 1, mean);
}

static void draw_label(FILE *out, const struct mal_series *series, unsigned int row,
		       unsigned int rank_count, double y)
{
	unsigned int first = row * series->ranks_per_row;
	unsigned int last = first + series->ranks_per_row - 1;

	last = last < rank_count ? last : rank_count - 1;
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 6, y);
	if (first == last)
		fprintf(out, "rank %u</text>\n", first);
	else
		fprintf(out, "ranks %u-%u</text>\n", first, last);
}

static void draw_scale(FILE *out, const struct mal_series *series, double y)
{
	for (int i = 0; i < MAL_HTML_COLOURS; i++)
		fprintf(out,
			"<rect class=\"c%d\" x=\"%.1f\" y=\"%.1f\" width=\"30\" height=\"10\"/>\n",
			i, LEFT + 30 * i, y);
	fprintf(out,
		"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">0</text>\n"
		"<text x=\"%.1f\" y=\"%.1f\">%.1f CPUs</text>\n",
		LEFT - 6, y + 9, LEFT + 30 * MAL_HTML_COLOURS + 6, y + 9, series->max);
}

void mal_chart_lanes(FILE *out, const struct mal_series *series, const double *values,
		     unsigned int rank_count, const char *class, const char *title,
		     const char *note)
{
	double height = series->rows > 32 ? 8 : 18, bottom = height * series->rows + 4;
	unsigned int every = series->rows > 32 ? 4 : 1;

	begin(out, class, title, note, bottom + 44);
	for (unsigned int row = 0; row < series->rows; row++) {
		const double *lane = values + row * series->column_count;
		double y = row * height;

		if (row % every == 0)
			draw_label(out, series, row, rank_count, y + height / 2 + 4);
		for (size_t from = 0, next; from < series->column_count; from = next) {
			next = run_of(series, lane, from);
			draw_run(out, series, lane, from, next, y, height - 1);
		}
	}
	draw_time(out, series, bottom);
	draw_scale(out, series, bottom + 28);
	end(out);
}

/* Each factor as a line from column to column, in the order of the legend. */
static double factor(const struct mal_series_column *column, int line)
{
	struct mal_efficiencies part = mal_efficiencies(&column->cpus);
	double value = line == 0   ? part.parallel
		       : line == 1 ? part.load_balance
				   : part.communication;

	return isnan(value) ? 0 : value > 1 ? 1 : value;
}

void mal_chart_efficiencies(FILE *out, const struct mal_series *series)
{
	static const char *const names[] = {"parallel efficiency", "load balance", "communication"};

	begin(out, "efficiencies", "Efficiencies over time",
	      "100 % means that nothing is lost. Parallel efficiency is what is left of all CPUs' "
	      "time; load balance is lost where ranks wait for others.",
	      LINES_HEIGHT + 44);
	for (int i = 0; i <= 4; i++)
		fprintf(out,
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%d %%</text>\n"
			"<path stroke=\"var(--rule)\" d=\"M%.1f %.1fH%.1f\"/>\n",
			LEFT - 6, 12 + (LINES_HEIGHT - 8) * (4 - i) / 4, 25 * i, LEFT,
			8 + (LINES_HEIGHT - 8) * (4 - i) / 4, RIGHT);
	for (int line = 0; line < 3; line++) {
		fprintf(out, "<path class=\"l%d\" d=\"", line);
		for (size_t i = 0; i < series->column_count; i++) {
			const struct mal_series_column *column = &series->columns[i];
			double y = 8 + (LINES_HEIGHT - 8) * (1 - factor(column, line));

			fprintf(out, "%c%.1f %.1fH%.1f", i ? 'L' : 'M',
				place(series, column->begin_s), y, place(series, column->end_s));
		}
		fprintf(out, "\"><title>%s</title></path>\n", names[line]);
		fprintf(out,
			"<path class=\"l%d\" d=\"M%.1f %.1fh40\"/><text x=\"%.1f\" y=\"%.1f\">%s"
			"</text>\n",
			line, LEFT + 180 * line, LINES_HEIGHT + 32, LEFT + 180 * line + 46,
			LINES_HEIGHT + 36, names[line]);
	}
	draw_time(out, series, LINES_HEIGHT + 2);
	end(out);
}
