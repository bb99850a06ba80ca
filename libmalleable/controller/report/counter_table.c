/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* counter_table.c: the table of counters (core/counters.h), summed over ranks and told. */
#include "libmalleable/controller/report/counter_table.h"

#include <stddef.h>
#include <string.h>

#include "libmalleable/base/clock.h"

/* As in the table. */
enum kind { PART, CHANGE, EVENT, TIME };

#define ROW(name, kind, key, meaning) {kind, key, offsetof(struct mal_counters, name)},
static const struct row {
	enum kind kind;
	const char *key;
	size_t offset;
} rows[] = {MAL_COUNTERS(ROW)};
#undef ROW

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static _Atomic uint64_t *at(const struct mal_counters *count, const struct row *row)
{
	return (_Atomic uint64_t *)((char *)count + row->offset);
}

void mal_counters_add(struct mal_counters *sum, const struct mal_rank_slot *slot)
{
	for (size_t i = 0; i < ROWS; i++)
		atomic_fetch_add(at(sum, &rows[i]), atomic_load(at(&slot->count, &rows[i])));
}

json_t *mal_counters_json(json_t *object, const struct mal_counters *count)
{
	for (size_t i = 0; i < ROWS; i++) {
		uint64_t value = atomic_load(at(count, &rows[i]));

		if (rows[i].kind != PART)
			json_object_set_new(object, rows[i].key,
					    rows[i].kind == TIME ? json_real(mal_ticks_to_s(value))
								 : json_integer((json_int_t)value));
	}
	return object;
}

void mal_counters_text(struct mal_text *text, const struct mal_counters *count)
{
	const char *before = "CPUs: ";

	for (size_t i = 0; i < ROWS; i++) {
		unsigned long long value = atomic_load(at(count, &rows[i]));
		int one = (int)strlen(rows[i].key) - (value == 1);

		if (rows[i].kind != CHANGE)
			continue;
		mal_text_add(text, "%s%llu %.*s", before, value, one, rows[i].key);
		before = ", ";
	}
	mal_text_add(text, "\n");
}
