/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * counter_table.h: the table of counters (core/counters.h), summed over ranks and told.
 *
 * Invariant: a row with a key is told wherever counters are, by no code of its own
 * (t/unit/test_report.c: each_counter_is_told).
 */
#pragma once

#include <jansson.h>

#include "libmalleable/controller/report/phrases.h"
#include "libmalleable/core/segment.h"

/* Add what the rank of SLOT counted to SUM. */
void mal_counters_add(struct mal_counters *sum, const struct mal_rank_slot *slot);

/* Set the keys of COUNT in OBJECT, which may be NULL. Returns OBJECT. */
json_t *mal_counters_json(json_t *object, const struct mal_counters *count);

/* The line "CPUs:" of a report. */
void mal_counters_text(struct mal_text *text, const struct mal_counters *count);
