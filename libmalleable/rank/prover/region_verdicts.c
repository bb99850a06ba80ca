/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* region_verdicts.c: which of the program's regions may have any team. */
#include "libmalleable/rank/prover/region_verdicts.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "libmalleable/base/readable.h"
#include "libmalleable/rank/prover/known.h"

/* Names of C++ functions are long. */
enum { WHY_LONGEST = 2560 };

/* Whether a pointer may lead from OBJECT to a function of another one that can tell. */
static bool others_tell(const struct mal_known *object)
{
	const struct mal_loaded *loaded = mal_known_look();

	if (loaded->more)
		return true;
	for (size_t i = 0; i < loaded->count; i++) {
		const struct mal_known *other = mal_known_at(loaded->objects[i].base);

		if (other == object || (!other && !loaded->objects[i].tells))
			continue;
		if (!other || other->unread || other->trouble || other->verdicts.found.taken_tells)
			return true;
	}
	return false;
}

static bool is_free(const struct mal_known *object, const struct mal_verdict *verdict)
{
	return verdict->free && !(verdict->indirect && others_tell(object));
}

static const struct mal_known *object_of(uintptr_t function)
{
	size_t count;
	const struct mal_known *known = mal_known_list(&count);

	for (size_t i = 0; i < count; i++)
		if (function - known[i].base >= known[i].identity.text_begin &&
		    function - known[i].base < known[i].identity.text_end)
			return &known[i];
	return NULL;
}

static const struct mal_verdict *verdict_on(const struct mal_known *object, uintptr_t function)
{
	return mal_inspection_find(&object->verdicts.found, function - object->base);
}

/* Its file's name without the directories: the text that a rank may write is short. */
static const char *name_of(const struct mal_known *object)
{
	const char *last = strrchr(object->file, '/');

	return last ? last + 1 : object->file;
}

static void write_why(const struct mal_known *object, const struct mal_verdict *verdict, char *text,
		      size_t size)
{
	const char *reason = verdict->reason ? verdict->reason : "a pointer may lead to what tells";
	char whole[WHY_LONGEST];

	if (verdict->name)
		snprintf(whole, sizeof(whole), "%s: %s", verdict->name, reason);
	else
		snprintf(whole, sizeof(whole), "%#llx%s%s: %s",
			 (unsigned long long)verdict->address, *object->file ? " of " : "",
			 name_of(object), reason);
	mal_make_readable(mal_demangler(RTLD_NOLOAD), whole, text, size);
}

static void write_trouble(const struct mal_known *object, char *text, size_t size)
{
	snprintf(text, size, "%s: %s", *object->file ? name_of(object) : "the program",
		 object->unread	   ? "it is read in the background"
		 : object->trouble ? object->trouble
				   : "a region of which nothing is known");
}

bool mal_regions_open(struct mal_reading shared, const char **trouble)
{
	const struct mal_known *known;
	size_t count;

	if (!mal_known_open(shared, trouble))
		return false;
	mal_known_look();
	known = mal_known_list(&count);
	for (size_t i = 0; i < count; i++) {
		if (!known[i].trouble) {
			*trouble = NULL;
			return true;
		}
		*trouble = known[i].trouble;
	}
	return !*trouble;
}

struct mal_region_kind mal_region_of(const void *function)
{
	const struct mal_verdict *verdict;
	const struct mal_known *object;

	mal_known_look();
	object = object_of((uintptr_t)function);
	verdict = object ? verdict_on(object, (uintptr_t)function) : NULL;
	if (!verdict && object && object->unread)
		mal_known_await((uintptr_t)function - object->base);
	if (!verdict)
		return (struct mal_region_kind){.stays =
							object && object->first && !object->unread};
	return (struct mal_region_kind){.free = is_free(object, verdict),
					.stays = object->first && !verdict->indirect};
}

void mal_region_why(const void *function, char *text, size_t size)
{
	const struct mal_known *object = object_of((uintptr_t)function);
	const struct mal_verdict *verdict = object ? verdict_on(object, (uintptr_t)function) : NULL;

	if (verdict)
		write_why(object, verdict, text, size);
	else if (object)
		write_trouble(object, text, size);
	else
		snprintf(text, size, "a region of which nothing is known");
}

/* Whether all regions of OBJECT are free; adds to COUNT how many there are. */
static bool all_are_free(const struct mal_known *object, size_t *count, char *text, size_t size)
{
	const struct mal_inspection *found = &object->verdicts.found;

	for (size_t i = 0; i < found->count; i++) {
		if (is_free(object, &found->verdicts[i]))
			continue;
		write_why(object, &found->verdicts[i], text, size);
		return false;
	}
	if (object->unread || object->trouble || found->unknown) {
		write_trouble(object, text, size);
		return false;
	}
	*count += found->count;
	return true;
}

bool mal_regions_are_free(char *text, size_t size)
{
	const struct mal_loaded *loaded = mal_known_look();
	size_t count = 0;

	*text = '\0';
	for (size_t i = 0; i < loaded->count; i++) {
		const struct mal_known *known = mal_known_at(loaded->objects[i].base);

		if (!loaded->objects[i].regions)
			continue;
		if (!known || !all_are_free(known, &count, text, size))
			return false;
	}
	return count && !loaded->more;
}

bool mal_regions_are_unread(void)
{
	return mal_known_are_unread();
}
