/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* partial.c: partial results of a reduction where ways meet: what may meet them unnoticed. */
#include "libmalleable/inspect/analysis.h"
#include "libmalleable/inspect/changes.h"

/* Whether the loop that CARRIED is of began with VALUE, or went on with what began so. */
static int began_with(const struct mal_analysis *analysis, mal_value value, uint32_t carried)
{
	for (unsigned int i = 0; carried && i < 4; i++) {
		uint32_t index = analysis->values.symbols[carried].role - 1000;
		mal_value entry = index < MAL_LOCATIONS ? analysis->locations[index].entry : 0;

		if (entry == value)
			return 1;
		carried = analysis->values.forms[entry].kind == MAL_PARTIAL
				  ? analysis->values.forms[entry].a
				  : 0;
	}
	return 0;
}

/*
 * Whether a thread that has VALUE, and no part of the loops of FOUND, leaves the others' result as
 * it is. In a least or greatest one only what all of them began with does: another value is one
 * that a program gives threads which found nothing to do.
 */
static int is_idle(const struct mal_analysis *analysis, mal_value value, const mal_value *found,
		   size_t count, unsigned int operation)
{
	const struct mal_values *values = &analysis->values;

	if (!mal_is_neutral(values, value, operation))
		return 0;
	if (operation == MAL_SUM || operation == MAL_XOR || operation == MAL_PRODUCT)
		return 1;
	for (size_t i = 0; i < count; i++) {
		const struct mal_form *form = &values->forms[found[i]];
		uint32_t from =
			form->kind == MAL_PARTIAL ? form->a : mal_carried_in(analysis, found[i]);

		if ((form->kind == MAL_PARTIAL || from) && !began_with(analysis, value, from))
			return 0;
	}
	return 1;
}

mal_value mal_join_partial(struct mal_analysis *analysis, const mal_value *found, size_t count,
			   enum mal_ways differs)
{
	struct mal_values *values = &analysis->values;
	unsigned int operation = MAL_NO_REDUCTION, partials = 0;
	uint32_t carried = 0, width = 0;
	int mixed = 0;

	for (size_t i = 0; i < count; i++) {
		const struct mal_form *form = &values->forms[found[i]];
		uint32_t from = mal_carried_in(analysis, found[i]);

		if (form->kind == MAL_PARTIAL) {
			if (operation && operation != form->operation)
				return 0;
			operation = form->operation;
			from = form->a;
			width = form->b && (!width || form->b < width) ? form->b : width;
		} else if (!from) {
			continue;
		} else if (form->count > 1 || form->constant) {
			if (operation && operation != MAL_SUM)
				return 0;
			operation = MAL_SUM;
		}
		mixed |= partials && carried != from;
		carried = from;
		partials++;
	}
	if (!operation)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (values->forms[found[i]].kind != MAL_PARTIAL &&
		    !mal_carried_in(analysis, found[i]) &&
		    !(differs == MAL_WAYS_PART
			      ? is_idle(analysis, found[i], found, count, operation)
			      : differs && mal_is_neutral(values, found[i], operation)))
			return 0;
	return mal_form(values, &(struct mal_form){.kind = MAL_PARTIAL,
						   .operation = (uint8_t)operation,
						   .a = mixed ? 0 : carried,
						   .b = width});
}
