/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cover.c: whether a shared loop that takes several iterations in one round looks at each of them.
 * A compiler that makes two rounds one drops what a program does in none or in every second one; so
 * a round that only comes to some of its iterations does what depends on where a share begins.
 */
#include "libmalleable/inspect/analysis.h"

enum { STEPS = 64 };

static int64_t size_of(int64_t number)
{
	return number < 0 ? -number : number;
}

/* VALUE without its constant: one for all places of an array that a round comes to. */
static mal_value key_of(struct mal_analysis *analysis, mal_value value)
{
	struct mal_form form = analysis->values.forms[value];

	form.constant = 0;
	return mal_form(&analysis->values, &form);
}

/* What lies at the same place of the elements of one array, all of UNIT bytes. */
static struct mal_cover *cover_of(struct mal_analysis *analysis, uint32_t header, mal_value key,
				  int64_t constant, int64_t unit)
{
	int64_t far = 4 * unit * size_of(analysis->loops[header].step);
	struct mal_cover *cover;

	for (uint32_t i = 0; i < analysis->cover_count; i++) {
		int64_t distance;

		cover = &analysis->covers[i];
		distance = (int64_t)((uint64_t)constant - (uint64_t)cover->constant);
		if (cover->header == header && cover->key == key && distance > -far &&
		    distance < far && distance % unit == 0 &&
		    cover->memory == (analysis->width != 0))
			return cover;
	}
	if (analysis->cover_count == MAL_COVERS)
		return NULL;
	cover = &analysis->covers[analysis->cover_count++];
	*cover = (struct mal_cover){
		.header = header, .key = key, .constant = constant, .memory = analysis->width != 0};
	return cover;
}

void mal_note_cover(struct mal_analysis *analysis, uint32_t header, mal_value value, int64_t times)
{
	int64_t step = size_of(analysis->loops[header].step), unit = size_of(times), first;
	int64_t constant = analysis->values.forms[value].constant, count;
	struct mal_cover *cover;

	if (!analysis->final || step < 2 || step > STEPS || unit == 0 || unit > INT32_MAX)
		return;
	cover = cover_of(analysis, header, key_of(analysis, value), constant, unit);
	if (!cover)
		return;
	first = constant - cover->constant;
	first = first >= 0 ? first / unit : -((-first + unit - 1) / unit);
	count = (int64_t)analysis->width / unit;
	for (int64_t i = 0; i < (count ? count : 1) && i < step; i++)
		cover->seen |= (uint64_t)1 << (((first + i) % step + step) % step);
}

/* Whether all memory that has positions is come to whole; without any such, one value at least. */
static int is_whole(const struct mal_analysis *analysis, uint32_t header, int64_t step)
{
	const uint64_t all = ~(uint64_t)0 >> (STEPS - step);
	int memory = 0, values = 0;

	if (analysis->cover_count == MAL_COVERS)
		return 0;
	for (uint32_t i = 0; i < analysis->cover_count; i++) {
		const struct mal_cover *cover = &analysis->covers[i];

		if (cover->header != header)
			continue;
		if (cover->memory && cover->seen != all)
			return 0;
		memory |= cover->memory;
		values |= cover->seen == all;
	}
	return memory || values;
}

void mal_check_covers(struct mal_analysis *analysis)
{
	for (uint32_t header = 0; header < analysis->graph.block_count; header++) {
		int64_t step = size_of(analysis->loops[header].step);

		if (analysis->loops[header].kind == MAL_SHARE_ITERATIONS && step >= 2 &&
		    analysis->ends[header].live &&
		    (step > STEPS || !is_whole(analysis, header, step)))
			mal_bind(analysis, "a shared loop that leaves iterations out", NULL);
	}
}
