/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jumps.c: finds jumps by the bytes of the code, as not all of it is in a graph. */
#include "libmalleable/inspect/jumps.h"

#include <stdlib.h>
#include <string.h>

#include "libmalleable/inspect/regions.h"

#ifdef HAVE_ZYDIS

static int add_host(const struct mal_function ***hosts, size_t *count,
		    const struct mal_function *function)
{
	const struct mal_function **more;

	if (!function || (*count && (*hosts)[*count - 1] == function))
		return 0;
	more = realloc(*hosts, (*count + 1) * sizeof(const struct mal_function *));
	if (!more)
		return -1;
	*hosts = more;
	more[(*count)++] = function;
	return 0;
}

static int by_start(const void *left, const void *right)
{
	const struct mal_function *const *a = left, *const *b = right;

	return ((*a)->start > (*b)->start) - ((*a)->start < (*b)->start);
}

int mal_jumps_hosts(const struct mal_image *image, const struct mal_function ***hosts,
		    size_t *count)
{
	size_t kept = 0;

	for (size_t i = 0; i < image->segment_count; i++) {
		const struct mal_image_segment *segment = &image->segments[i];
		const uint8_t *bytes = image->bytes + segment->offset;

		for (uint64_t at = 0; segment->executable && at + 8 <= segment->stored; at++) {
			uint64_t address = segment->address + at;

			if ((bytes[at] == 0xe8 || bytes[at] == 0xe9 || bytes[at] == 0xff) &&
			    mal_may_start(image, address, bytes + at) &&
			    add_host(hosts, count, mal_image_function(image, address)) < 0)
				return -1;
		}
	}
	if (*count)
		qsort(*hosts, *count, sizeof(**hosts), by_start);
	for (size_t i = 0; i < *count; i++)
		if (!kept || (*hosts)[kept - 1] != (*hosts)[i])
			(*hosts)[kept++] = (*hosts)[i];
	*count = kept;
	return 0;
}

static const struct mal_function *host_of(const struct mal_function **hosts, size_t count,
					  uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (hosts[middle]->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < hosts[low - 1]->end ? hosts[low - 1] : NULL;
}

static int add_jump(struct mal_jumps *jumps, uint64_t to, uint64_t from)
{
	if (jumps->count == jumps->room) {
		size_t room = jumps->room ? 2 * jumps->room : 256;
		struct mal_jump *more = realloc(jumps->jumps, room * sizeof(*more));

		if (!more)
			return -1;
		jumps->jumps = more;
		jumps->room = room;
	}
	jumps->jumps[jumps->count++] = (struct mal_jump){to, from};
	return 0;
}

static int by_target(const void *left, const void *right)
{
	const struct mal_jump *a = left, *b = right;

	return (a->to > b->to) - (a->to < b->to);
}

/* How far the distance of a jump is from its first byte, if one may begin at CODE; else 0. */
static unsigned int jump_at(const uint8_t *code)
{
	if (code[0] == 0xe9)
		return 1;
	return code[0] == 0x0f && (code[1] & 0xf0) == 0x80 ? 2 : 0;
}

int mal_jumps_find(struct mal_jumps *jumps, const struct mal_image *image,
		   const struct mal_function **hosts, size_t count)
{
	for (size_t i = 0; count && i < image->segment_count; i++) {
		const struct mal_image_segment *segment = &image->segments[i];
		const uint8_t *bytes = image->bytes + segment->offset;

		for (uint64_t at = 0; segment->executable && at + 6 <= segment->stored; at++) {
			unsigned int skip = jump_at(bytes + at);
			const struct mal_function *host;
			uint64_t from = segment->address + at, to;
			int32_t distance;

			if (!skip)
				continue;
			memcpy(&distance, bytes + at + skip, sizeof(distance));
			to = from + skip + 4 + (uint64_t)(int64_t)distance;
			host = host_of(hosts, count, to);
			if (host && (from < host->start || from >= host->end) &&
			    add_jump(jumps, to, from) < 0)
				return -1;
		}
	}
	if (jumps->count)
		qsort(jumps->jumps, jumps->count, sizeof(*jumps->jumps), by_target);
	return 0;
}

static int add_entry(uint64_t **entries, size_t *count, uint64_t address)
{
	uint64_t *more = realloc(*entries, (*count + 1) * sizeof(*more));

	if (!more)
		return -1;
	*entries = more;
	more[(*count)++] = address;
	return 0;
}

static int by_value(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

int mal_jumps_into(const struct mal_jumps *jumps, const struct mal_image *image,
		   const struct mal_function *function, const struct mal_flow_graph *graph,
		   uint64_t **entries, size_t *count)
{
	struct mal_instruction instruction;
	uint64_t at = function->start;

	for (size_t i = 0; i < jumps->count; i++)
		if (jumps->jumps[i].to >= function->start && jumps->jumps[i].to < function->end &&
		    mal_flow_find(graph, jumps->jumps[i].from) < 0 &&
		    add_entry(entries, count, jumps->jumps[i].to) < 0)
			return -1;
	for (; at < function->end && mal_decode(image, at, &instruction); at += instruction.length)
		if ((instruction.flow == MAL_FLOW_JUMP || instruction.flow == MAL_FLOW_BRANCH) &&
		    instruction.target && mal_flow_find(graph, at) < 0 &&
		    add_entry(entries, count, instruction.target) < 0)
			return -1;
	if (*count)
		qsort(*entries, *count, sizeof(**entries), by_value);
	return 0;
}

#endif
