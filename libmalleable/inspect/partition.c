/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * partition.c: gcc's shares of static loops: q = n / threads, r = n % threads; a thread whose
 * number
 * is less than r has q + 1 from (q + 1) * number on, the others q from q * number + r on. A
 * value is
 * followed on both sides; where the two are those of the formula, they are the share's bounds.
 */
#include "libmalleable/inspect/analysis.h"

static mal_value part(struct mal_analysis *analysis, enum mal_symbol_class class,
		      mal_value partition)
{
	struct mal_symbol symbol = {.class = class, .role = 20, .extra = partition};

	return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
}

void mal_divide(struct mal_analysis *analysis, mal_value dividend, mal_value divisor,
		mal_value *quotient, mal_value *rest)
{
	const struct mal_symbol *symbol = mal_only_symbol(&analysis->values, divisor);
	int share = symbol && symbol->class == MAL_THREADS &&
		    !mal_shows(analysis, dividend, analysis->block, -1);

	if (share) {
		*quotient = part(analysis, MAL_QUOTIENT, dividend);
		*rest = part(analysis, MAL_REST, dividend);
		return;
	}
	*quotient = mal_fold(analysis, dividend, divisor, MAL_ROLE_QUOTIENT);
	*rest = mal_fold(analysis, dividend, divisor, MAL_ROLE_REST);
}

static int64_t times_of(const struct mal_analysis *analysis, mal_value value,
			enum mal_symbol_class class, mal_value partition)
{
	const struct mal_form *form = &analysis->values.forms[value];

	for (unsigned int i = 0; i < form->count; i++) {
		const struct mal_symbol *symbol = &analysis->values.symbols[form->terms[i].symbol];

		if (symbol->class == class && !form->terms[i].factor &&
		    (class == MAL_THREAD || symbol->extra == partition))
			return form->terms[i].times;
	}
	return 0;
}

static mal_value thread_of(struct mal_analysis *analysis)
{
	struct mal_symbol symbol = {.class = MAL_THREAD, .role = 20};

	return mal_of_symbol(&analysis->values, mal_symbol(&analysis->values, &symbol));
}

/* A bound of a share on one side: 1 where the number is less than the rest. */
static mal_value bound_on(struct mal_analysis *analysis, enum mal_symbol_class class,
			  mal_value partition, int side)
{
	struct mal_values *values = &analysis->values;
	mal_value sum = part(analysis, MAL_QUOTIENT_THREAD, partition);

	sum = mal_add(values, sum,
		      side == 1 ? thread_of(analysis) : part(analysis, MAL_REST, partition), 1);
	if (class == MAL_HIGH) {
		sum = mal_add(values, sum, part(analysis, MAL_QUOTIENT, partition), 1);
		if (side == 1)
			sum = mal_add(values, sum, mal_number(values, 1), 1);
	}
	return sum;
}

/* VALUE less LOWS times the one and HIGHS times the other bound, on one side. */
static mal_value less_bounds(struct mal_analysis *analysis, mal_value value, mal_value partition,
			     int side, int64_t lows, int64_t highs)
{
	struct mal_values *values = &analysis->values;

	value = mal_add(values, value, bound_on(analysis, MAL_LOW, partition, side), -lows);
	return value ? mal_add(values, value, bound_on(analysis, MAL_HIGH, partition, side), -highs)
		     : 0;
}

/* The one value that is LESS on the one side and OTHER on the other, 0 where there is none. */
static mal_value normal(struct mal_analysis *analysis, mal_value partition, mal_value less,
			mal_value other)
{
	struct mal_values *values = &analysis->values;
	int64_t both = times_of(analysis, less, MAL_QUOTIENT_THREAD, partition);
	int64_t highs = times_of(analysis, less, MAL_QUOTIENT, partition);
	mal_value left = less_bounds(analysis, less, partition, 1, both - highs, highs);
	mal_value right = less_bounds(analysis, other, partition, 2, both - highs, highs);

	if (!left || left != right || mal_shows(analysis, left, analysis->block, -1))
		return 0;
	left = mal_add(values, left, part(analysis, MAL_LOW, partition), both - highs);
	return left ? mal_add(values, left, part(analysis, MAL_HIGH, partition), highs) : 0;
}

mal_value mal_pair(struct mal_analysis *analysis, mal_value partition, mal_value less,
		   mal_value other)
{
	struct mal_values *values = &analysis->values;
	mal_value value;

	if (!less || !other || values->forms[less].kind != MAL_LINEAR ||
	    values->forms[other].kind != MAL_LINEAR)
		return mal_taint(values, "the bounds of a thread's share");
	if (less == other)
		return less;
	if (times_of(analysis, less, MAL_QUOTIENT_THREAD, partition)) {
		value = normal(analysis, partition, less, other);
		if (value)
			return value;
	}
	return mal_form(values, &(struct mal_form){
					.kind = MAL_PAIR, .a = partition, .b = less, .c = other});
}

mal_value mal_plain(struct mal_analysis *analysis, mal_value value)
{
	const struct mal_form form = analysis->values.forms[value];
	mal_value plain = 0;

	if (form.kind == MAL_PAIR)
		plain = normal(analysis, form.a, form.b, form.c);
	return plain ? plain : value;
}

mal_value mal_on_side(struct mal_analysis *analysis, mal_value value, mal_value partition, int side)
{
	struct mal_values *values = &analysis->values;
	const struct mal_form form = values->forms[value];
	int64_t lows, highs;

	if (form.kind == MAL_PAIR)
		return form.a == partition ? (side == 1 ? form.b : form.c) : 0;
	if (form.kind != MAL_LINEAR)
		return 0;
	lows = times_of(analysis, value, MAL_LOW, partition);
	highs = times_of(analysis, value, MAL_HIGH, partition);
	value = mal_add(values, value, part(analysis, MAL_LOW, partition), -lows);
	value = value ? mal_add(values, value, part(analysis, MAL_HIGH, partition), -highs) : 0;
	return value ? less_bounds(analysis, value, partition, side, -lows, -highs) : 0;
}

/* One term times another; 0 where that is no term. */
static int multiply(struct mal_analysis *analysis, struct mal_term left, struct mal_term right,
		    struct mal_form *sum, uint32_t role)
{
	struct mal_values *values = &analysis->values;
	const struct mal_symbol *a = &values->symbols[left.symbol];
	const struct mal_symbol *b = &values->symbols[right.symbol];
	struct mal_term term = {.times = (int64_t)((uint64_t)left.times * (uint64_t)right.times)};

	if (left.factor || right.factor)
		return 0;
	if (a->class == MAL_CLEAN && b->class == MAL_CLEAN) {
		mal_value product = mal_fresh(analysis, MAL_CLEAN, 400 + role);

		term.symbol = values->forms[product].terms[0].symbol;
	} else if (b->class == MAL_CLEAN) {
		term.symbol = left.symbol;
		term.factor = right.symbol;
	} else if (a->class == MAL_CLEAN) {
		term.symbol = right.symbol;
		term.factor = left.symbol;
	} else if ((a->class == MAL_QUOTIENT && b->class == MAL_THREAD) ||
		   (b->class == MAL_QUOTIENT && a->class == MAL_THREAD)) {
		mal_value product = part(analysis, MAL_QUOTIENT_THREAD,
					 a->class == MAL_QUOTIENT ? a->extra : b->extra);

		term.symbol = values->forms[product].terms[0].symbol;
	} else {
		return 0;
	}
	*sum = (struct mal_form){.kind = MAL_LINEAR, .count = 1, .terms = {term}};
	return 1;
}

mal_value mal_on_both_sides(struct mal_analysis *analysis, mal_value left, mal_value right,
			    mal_combine *combine, int64_t times)
{
	const struct mal_form *a = &analysis->values.forms[left];
	mal_value partition = a->kind == MAL_PAIR ? a->a : analysis->values.forms[right].a;
	mal_value sides[2];

	for (int side = 1; side <= 2; side++) {
		mal_value x = mal_on_side(analysis, left, partition, side);
		mal_value y = mal_on_side(analysis, right, partition, side);

		sides[side - 1] = x && y ? combine(analysis, x, y, times) : 0;
	}
	return sides[0] && sides[1] ? mal_pair(analysis, partition, sides[0], sides[1]) : 0;
}

static mal_value times_linear(struct mal_analysis *analysis, mal_value left, mal_value right,
			      int64_t times)
{
	struct mal_values *values = &analysis->values;
	const struct mal_form a = values->forms[left], b = values->forms[right];
	mal_value sum = mal_number(values, (int64_t)((uint64_t)a.constant * (uint64_t)b.constant));

	(void)times;
	for (unsigned int i = 0; i < a.count && sum; i++) {
		struct mal_form one = {.kind = MAL_LINEAR, .count = 1, .terms = {a.terms[i]}};

		sum = mal_add(values, sum, mal_form(values, &one), b.constant);
	}
	for (unsigned int j = 0; j < b.count && sum; j++) {
		struct mal_form one = {.kind = MAL_LINEAR, .count = 1, .terms = {b.terms[j]}};

		sum = mal_add(values, sum, mal_form(values, &one), a.constant);
		for (unsigned int i = 0; i < a.count && sum; i++) {
			if (!multiply(analysis, a.terms[i], b.terms[j], &one, i * MAL_TERMS + j))
				return 0;
			sum = mal_add(values, sum, mal_form(values, &one), 1);
		}
	}
	return sum;
}

mal_value mal_times(struct mal_analysis *analysis, mal_value left, mal_value right)
{
	struct mal_values *values = &analysis->values;
	const struct mal_form a = values->forms[left], b = values->forms[right];
	mal_value product = 0;

	if (!mal_shows(analysis, left, analysis->block, -1) &&
	    !mal_shows(analysis, right, analysis->block, -1) && a.count && b.count)
		return mal_mixed(analysis, (mal_value[]){left, right}, 2, 320);
	if (a.kind == MAL_LINEAR && b.kind == MAL_LINEAR) {
		product = times_linear(analysis, left, right, 1);
	} else if (a.kind == MAL_PAIR || b.kind == MAL_PAIR) {
		product = mal_on_both_sides(analysis, left, right, times_linear, 1);
	}
	return product ? product : mal_mixed(analysis, (mal_value[]){left, right}, 2, 320);
}
