/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* values.c: tables of symbols and of values, and sums. */
#include "libmalleable/inspect/values.h"

#include <stdlib.h>
#include <string.h>

enum { HASH = 1 << 16, MOST = HASH / 2 };

int mal_values_make(struct mal_values *values)
{
	*values = (struct mal_values){.form_count = 1, .symbol_count = 1};
	values->form_hash = calloc(HASH, sizeof(uint32_t));
	values->symbol_hash = calloc(HASH, sizeof(uint32_t));
	values->form_room = values->symbol_room = 64;
	values->forms = calloc(values->form_room, sizeof(*values->forms));
	values->symbols = calloc(values->symbol_room, sizeof(*values->symbols));
	if (values->form_hash && values->symbol_hash && values->forms && values->symbols)
		return 0;
	mal_values_free(values);
	return -1;
}

void mal_values_free(struct mal_values *values)
{
	free(values->forms);
	free(values->symbols);
	free(values->form_hash);
	free(values->symbol_hash);
	*values = (struct mal_values){0};
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static int same_symbol(const struct mal_symbol *left, const struct mal_symbol *right)
{
	return left->class == right->class && left->address == right->address &&
	       left->role == right->role && left->block == right->block &&
	       left->extra == right->extra;
}

/*
 * ITEMS with room for one more than COUNT: *ROOM, of SIZE bytes each. They may have moved. NULL
 * where there is none.
 */
static void *with_room(struct mal_values *values, void *items, uint32_t count, uint32_t *room,
		       size_t size)
{
	void *more = items;

	if (count >= MOST)
		more = NULL;
	else if (count == *room)
		more = realloc(items, 2 * *room * size);
	if (!more)
		values->full = 1;
	else if (count == *room)
		*room *= 2;
	return more;
}

uint32_t mal_symbol(struct mal_values *values, const struct mal_symbol *symbol)
{
	uint64_t hash = mix(mix(symbol->address, symbol->role),
			    (uint64_t)symbol->class << 32 | symbol->extra);

	for (;; hash++) {
		uint32_t *entry = &values->symbol_hash[hash % HASH];
		struct mal_symbol *more;

		if (*entry && same_symbol(&values->symbols[*entry], symbol))
			return *entry;
		if (*entry)
			continue;
		more = with_room(values, values->symbols, values->symbol_count,
				 &values->symbol_room, sizeof(*more));
		if (!more)
			return 0;
		values->symbols = more;
		*entry = values->symbol_count;
		values->symbols[values->symbol_count] = *symbol;
		return values->symbol_count++;
	}
}

static int same_form(const struct mal_form *left, const struct mal_form *right)
{
	return left->kind == right->kind && left->operation == right->operation &&
	       left->count == right->count && left->a == right->a && left->b == right->b &&
	       left->c == right->c && left->constant == right->constant &&
	       left->reason == right->reason &&
	       memcmp(left->terms, right->terms, left->count * sizeof(left->terms[0])) == 0;
}

mal_value mal_form(struct mal_values *values, const struct mal_form *form)
{
	uint64_t hash =
		mix(mix((uint64_t)form->kind << 8 | form->operation, (uint64_t)form->constant),
		    (uint64_t)form->a << 32 | form->b);

	hash = mix(hash, form->c);
	for (unsigned int i = 0; i < form->count; i++)
		hash = mix(mix(hash, (uint64_t)form->terms[i].symbol << 32 | form->terms[i].factor),
			   (uint64_t)form->terms[i].times);
	for (;; hash++) {
		uint32_t *entry = &values->form_hash[hash % HASH];
		struct mal_form *more;

		if (*entry && same_form(&values->forms[*entry], form))
			return *entry;
		if (*entry)
			continue;
		more = with_room(values, values->forms, values->form_count, &values->form_room,
				 sizeof(*more));
		if (!more)
			return 0;
		values->forms = more;
		*entry = values->form_count;
		values->forms[values->form_count] = *form;
		return values->form_count++;
	}
}

mal_value mal_number(struct mal_values *values, int64_t number)
{
	return mal_form(values, &(struct mal_form){.kind = MAL_LINEAR, .constant = number});
}

mal_value mal_taint(struct mal_values *values, const char *reason)
{
	return mal_form(values, &(struct mal_form){.kind = MAL_TAINT, .reason = reason});
}

mal_value mal_of_symbol(struct mal_values *values, uint32_t symbol)
{
	return mal_form(values, &(struct mal_form){.kind = MAL_LINEAR,
						   .count = 1,
						   .terms = {{.symbol = symbol, .times = 1}}});
}

static int order(const struct mal_term *left, const struct mal_term *right)
{
	if (left->symbol != right->symbol)
		return left->symbol < right->symbol ? -1 : 1;
	return (left->factor > right->factor) - (left->factor < right->factor);
}

static int64_t plus(int64_t left, int64_t right, int64_t times)
{
	return (int64_t)((uint64_t)left + (uint64_t)right * (uint64_t)times);
}

static int put(struct mal_form *sum, struct mal_term term)
{
	if (term.times == 0)
		return 1;
	if (sum->count == MAL_TERMS)
		return 0;
	sum->terms[sum->count++] = term;
	return 1;
}

mal_value mal_add(struct mal_values *values, mal_value left, mal_value right, int64_t times)
{
	const struct mal_form *a = &values->forms[left], *b = &values->forms[right];
	struct mal_form sum = {.kind = MAL_LINEAR,
			       .constant = plus(a->constant, b->constant, times)};
	unsigned int i = 0, j = 0;

	while (i < a->count || j < b->count) {
		int which = i == a->count   ? 1
			    : j == b->count ? -1
					    : order(&a->terms[i], &b->terms[j]);
		struct mal_term term = which <= 0 ? a->terms[i] : b->terms[j];

		if (which == 0)
			term.times = plus(term.times, b->terms[j].times, times);
		else if (which > 0)
			term.times = plus(0, term.times, times);
		if (!put(&sum, term))
			return 0;
		i += which <= 0;
		j += which >= 0;
	}
	return mal_form(values, &sum);
}

mal_value mal_scale(struct mal_values *values, mal_value value, int64_t times)
{
	return mal_add(values, mal_number(values, 0), value, times);
}

int mal_is_number(const struct mal_values *values, mal_value value, int64_t *number)
{
	const struct mal_form *form = &values->forms[value];

	if (form->kind != MAL_LINEAR || form->count)
		return 0;
	*number = form->constant;
	return 1;
}

const struct mal_symbol *mal_only_symbol(const struct mal_values *values, mal_value value)
{
	const struct mal_form *form = &values->forms[value];

	if (form->kind != MAL_LINEAR || form->count != 1 || form->constant ||
	    form->terms[0].times != 1 || form->terms[0].factor)
		return NULL;
	return &values->symbols[form->terms[0].symbol];
}

static uint32_t family_of(const struct mal_symbol *symbol)
{
	switch (symbol->class) {
	case MAL_LOW:
	case MAL_HIGH:
	case MAL_LENGTH:
	case MAL_QUOTIENT:
	case MAL_REST:
	case MAL_QUOTIENT_THREAD:
		/* Of a partition; or by the call that gave it; or by what it was made of. */
		if (symbol->role == 20)
			return symbol->extra | MAL_PARTITION;
		return symbol->extra ? symbol->extra : (uint32_t)symbol->address;
	default: return 0;
	}
}

uint32_t mal_family(const struct mal_values *values, mal_value value)
{
	const struct mal_form *form = &values->forms[value];
	uint32_t family = 0;

	for (unsigned int i = 0; i < form->count; i++) {
		uint32_t one = family_of(&values->symbols[form->terms[i].symbol]);

		if (one && family && one != family)
			return UINT32_MAX;
		family = one ? one : family;
	}
	return family;
}
