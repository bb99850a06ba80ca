/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rests.c: whether the rest of a loop of vectors does what its vectors do. Both are gone through
 * with arbitrary numbers in place of data, as if the loop had no turn, or some single iterations of
 * it, done.
 *
 * Invariant: a rest stores the numbers that vectors begin with, where these begin, each once, or
 * the region is bound, as t/inspect/programs/rests.c has them (t/t0011-inspect.t: what is stored
 * under masks, compared, copied or left of vectors is seen).
 */
#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/prover/code/actions.h"
#include "libmalleable/prover/code/analysis.h"
#include "libmalleable/prover/code/find.h"
#include "libmalleable/prover/code/turn.h"

enum { WORDS = 64, TURNS = 16, WAYS = 3 };

/* What is in a register or in memory: of a vector, the first. */
struct cell {
	uint64_t number;
	/* Its number depends on how it was made; it follows from where a rest begins, or maybe. */
	bool blurred;
	/* No data is in it. */
	bool fixed;
	/* To how many widths of vectors it was rounded. */
	uint8_t widths;
	enum { NO_REST, REST, MAY_BE_REST } rest;
};

struct now {
	struct cell registers[MAL_REGISTERS];
	struct {
		uint64_t address;
		struct cell cell;
	} words[WORDS];
	uint32_t word_count;
	bool live;
};

struct access {
	const struct mal_instruction *at;
	struct cell address, value;
	uint32_t block;
	uint16_t bytes;
	bool stores;
	/* Which iterations of it the rest has; of a rest: it is that of vectors. */
	uint32_t turns;
	/* How far iterations are apart; of vectors: those of their rest. */
	uint64_t stride;
	/* Of vectors: how many bytes it has at once, as bits; it has any number of iterations. */
	uint32_t sizes;
	bool loops;
};

struct rests {
	struct mal_analysis *analysis;
	struct now *nows, *now;
	struct access *list, *first;
	uint32_t count, first_count, block;
	/* Iterations that are done; on which way to where several rests meet, of how many. */
	uint64_t turn;
	uint32_t way, ways;
	/* Several rests meet: the way matters. */
	bool meets, failed;
	bool *reached; /* blocks */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
	return a ^ a >> 29;
}

static struct cell number(uint64_t value)
{
	return (struct cell){.number = value, .fixed = 1};
}

/* A from A and B, and their NUMBER. */
static struct cell both(struct cell a, struct cell b, uint64_t by)
{
	return (struct cell){.number = by,
			     .blurred = a.blurred || b.blurred,
			     .fixed = a.fixed && b.fixed,
			     .widths = a.widths > b.widths ? a.widths : b.widths,
			     .rest = a.rest > b.rest ? a.rest : b.rest};
}

/* The number of BYTES; of the same one side by side, one of them. */
static uint64_t shortest(uint64_t value, unsigned int bytes)
{
	for (; bytes > 1; bytes /= 2) {
		unsigned int bits = 4 * bytes;

		if (((value >> bits ^ value) & (((uint64_t)1 << bits) - 1)) != 0)
			break;
	}
	return bytes >= 8   ? value
	       : bytes == 4 ? (uint64_t)(int64_t)(int32_t)value
	       : bytes == 2 ? (uint64_t)(int64_t)(int16_t)value
			    : (uint64_t)(int64_t)(int8_t)value;
}

static void note(struct rests *rests, const struct mal_instruction *at, struct cell address,
		 struct cell value, uint16_t bytes, bool stores)
{
	if (!mal_grow(&rests->list, rests->count, sizeof(*rests->list))) {
		rests->failed = 1;
		return;
	}
	rests->list[rests->count++] = (struct access){.at = at,
						      .address = address,
						      .value = value,
						      .block = rests->block,
						      .bytes = bytes,
						      .stores = stores};
}

static struct cell address_of(const struct rests *rests, const struct mal_operand *operand)
{
	struct cell address = number((uint64_t)operand->number);
	const struct cell *registers = rests->now->registers;

	if (operand->base != MAL_NO_REGISTER)
		address = both(address, registers[operand->base],
			       address.number + registers[operand->base].number);
	if (operand->index != MAL_NO_REGISTER)
		address = both(address, registers[operand->index],
			       address.number + registers[operand->index].number * operand->scale);
	return address;
}

static struct cell load(struct rests *rests, const struct mal_instruction *at, struct cell address,
			uint16_t bytes)
{
	unsigned int some = bytes < 8 ? bytes : 8;
	uint64_t data = 0;

	for (uint32_t i = 0; i < rests->now->word_count; i++)
		if (rests->now->words[i].address == address.number)
			return rests->now->words[i].cell;
	if (some && mal_image_constant(rests->analysis->image, address.number) &&
	    mal_image_copy(rests->analysis->image, address.number, (uint8_t *)&data, some))
		return number(shortest(data, some));
	note(rests, at, address, number(0), bytes, 0);
	return (struct cell){.number = mix(address.number, 1), .rest = address.rest};
}

static struct cell read(struct rests *rests, const struct mal_instruction *at, unsigned int i)
{
	const struct mal_operand *operand = &at->operands[i];

	if (operand->kind == MAL_OPERAND_NUMBER)
		return number(shortest((uint64_t)operand->number, 8));
	if (operand->kind == MAL_OPERAND_MEMORY)
		return load(rests, at, address_of(rests, operand), operand->bytes);
	return operand->reg == MAL_NO_REGISTER ? number(0) : rests->now->registers[operand->reg];
}

static void store(struct rests *rests, struct cell address, struct cell value)
{
	struct now *now = rests->now;
	uint32_t i = 0;

	while (i < now->word_count && now->words[i].address != address.number)
		i++;
	if (i == WORDS) {
		rests->failed = 1;
		return;
	}
	now->word_count += i == now->word_count;
	now->words[i].address = address.number;
	now->words[i].cell = value;
}

static void write(struct rests *rests, const struct mal_instruction *at, unsigned int i,
		  struct cell value)
{
	const struct mal_operand *operand = &at->operands[i];

	if (operand->kind == MAL_OPERAND_REGISTER && operand->reg != MAL_NO_REGISTER) {
		rests->now->registers[operand->reg] = value;
	} else if (operand->kind == MAL_OPERAND_MEMORY) {
		struct cell address = address_of(rests, operand);

		/* The frame is near to where it was. */
		if (address.number - mix(MAL_RSP, 0) + (1 << 24) < 1 << 25)
			store(rests, address, value);
		else
			note(rests, at, address, value, operand->bytes, 1);
	}
}

/* The name of AT as it has one number, whether it has a vector of them. */
static void name_of(const struct mal_instruction *at, char *name, size_t size)
{
	const char *full = ZydisMnemonicGetString((ZydisMnemonic)at->mnemonic);
	size_t length = 0;

	full += full[0] == 'v' && strncmp(full, "ver", 3) != 0;
	for (; full[0] && length + 1 < size; full++) {
		bool vector = full[0] == 'p' && (full[1] == 's' || full[1] == 'd') &&
			      (!full[2] || full[2] == '2') && length;

		if (vector || (full[0] == 'd' && full[1] == 'q' && strncmp(name, "cvt", 3) == 0)) {
			name[length++] = 's';
			if (!vector) {
				name[length++] = 'i';
				full++;
			}
			continue;
		}
		name[length++] = full[0];
		name[length] = 0;
	}
	name[length] = 0;
}

static bool begins(const char *name, const char *const *some)
{
	for (; *some; some++)
		if (strncmp(name, *some, strlen(*some)) == 0)
			return 1;
	return 0;
}

/* A product and a sum at once: what the digits of the NAME say of A, B and C. */
static bool fuse(const char *name, const struct cell *operands, struct cell *result)
{
	const char *digits = strpbrk(name, "12");
	struct cell a, b, c;

	if (!digits)
		return 0;
	a = operands[digits[0] - '1'];
	b = operands[digits[1] - '1'];
	c = operands[digits[2] - '1'];
	a = both(a, b, a.number * b.number * (name[1] == 'n' ? UINT64_MAX : 1));
	*result = both(a, c, a.number + c.number * (strstr(name, "sub") ? UINT64_MAX : 1));
	return 1;
}

/* Sums and products, of whole numbers, of others and of vectors alike; false where it is none. */
static bool step_sum(struct rests *rests, const struct mal_instruction *at, const char *name)
{
	unsigned int count = at->operand_count, first = count == 3 ? 1 : 0;
	bool whole = name[0] == 'p';
	struct cell a, b;

	if (count < 1 || count > 3)
		return 0;
	a = read(rests, at, first);
	b = count > 1 ? read(rests, at, count - 1) : number(1);
	if (begins(name, (const char *const[]){"fmadd", "fmsub", "fnmadd", "fnmsub", NULL}) &&
	    count == 3 && !strstr(name, "add") == !!strstr(name, "sub")) {
		if (!fuse(name, (const struct cell[]){read(rests, at, 0), a, b}, &a))
			return 0;
	} else if (begins(name + whole, (const char *const[]){"add", "inc", NULL}) &&
		   strncmp(name, "addsub", 6) != 0) {
		a = both(a, b, a.number + b.number);
	} else if (begins(name + whole, (const char *const[]){"sub", "dec", NULL})) {
		a = both(a, b, a.number - b.number);
	} else if (strcmp(name, "neg") == 0) {
		a.number = -a.number;
	} else if (begins(name, (const char *const[]){"mulss", "mulsd", "imul", "pmull", NULL}) &&
		   count > 1) {
		a = both(a, b, a.number * b.number);
	} else if ((strcmp(name, "shl") == 0 || strncmp(name, "psll", 4) == 0) && count > 1 &&
		   at->operands[count - 1].kind == MAL_OPERAND_NUMBER &&
		   strcmp(name, "pslldq") != 0) {
		a.number <<= b.number & 63;
	} else {
		return 0;
	}
	write(rests, at, 0, a);
	if (at->writes & MAL_BIT(MAL_FLAGS))
		rests->now->registers[MAL_FLAGS] = a;
	return 1;
}

/* Copies, also of parts of a vector; false where that is not the first one. */
static bool step_copy(struct rests *rests, const struct mal_instruction *at, const char *name)
{
	unsigned int count = at->operand_count, from = count == 3 ? 1 : 0;
	bool numbered = count && at->operands[count - 1].kind == MAL_OPERAND_NUMBER;
	uint64_t which = numbered ? (uint64_t)at->operands[count - 1].number : 0;

	if (at->action == MAL_ACTION_MOVE && count == 2)
		from = 1;
	else if (at->action == MAL_ACTION_MOVE && count == 3)
		from = 2;
	else if (begins(name,
			(const char *const[]){"pmovsx", "pmovzx", "broadcast", "pbroadcast", NULL}))
		from = count - 1;
	else if (numbered &&
		 begins(name, (const char *const[]){"shuf", "pshufd", "perm", "extract", NULL})) {
		if (which & (name[0] == 'e' ? 1 : 3))
			return 0;
		from = count - 2 - (count == 4);
	} else if (numbered && strncmp(name, "insert", 6) == 0)
		from = which & 1 ? (count == 4) : count - 2;
	else if (!begins(name, (const char *const[]){"unpckl", "punpckl", "movlh", "movhs", NULL}))
		return 0;
	write(rests, at, 0, read(rests, at, from));
	return 1;
}

/* All that is written follows from all that is read. */
static void step_any(struct rests *rests, const struct mal_instruction *at, const char *name)
{
	static const char *const one[] = {"cvt", "sqrt", "rsqrt", "rcp", NULL};
	static const char *const known[] = {"cvt", "sqrts", "divs", "mins", "maxs", NULL};
	uint64_t reads = at->reads & ~at->addressing;
	struct cell all = number(0);
	unsigned int i = begins(name, one) && at->operand_count ? at->operand_count - 1U : 0;

	for (const char *c = name; *c; c++)
		all.number = mix(all.number, (uint8_t)*c);
	for (; i < at->operand_count; i++) {
		const struct mal_operand *operand = &at->operands[i];
		struct cell value;

		if (operand->kind != MAL_OPERAND_NUMBER && !operand->read)
			continue;
		value = read(rests, at, i);
		all = both(all, value, mix(all.number, value.number));
		if (operand->kind == MAL_OPERAND_REGISTER && operand->reg != MAL_NO_REGISTER)
			reads &= ~MAL_BIT(operand->reg);
	}
	all.blurred |= !begins(name, known);
	for (unsigned int reg = 0; reg < MAL_REGISTERS && all.blurred; reg++)
		if (reads & MAL_BIT(reg) && reg != MAL_RSP)
			all = both(all, rests->now->registers[reg],
				   mix(all.number, rests->now->registers[reg].number));
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		if (at->writes & MAL_BIT(reg) && reg != MAL_RSP)
			rests->now->registers[reg] = both(all, all, mix(all.number, reg));
	for (i = 0; i < at->operand_count; i++)
		if (at->operands[i].written)
			write(rests, at, i, all);
}

static void step_stack(struct rests *rests, const struct mal_instruction *at)
{
	struct cell *registers = rests->now->registers, value;

	if (at->action == MAL_ACTION_PUSH) {
		value = read(rests, at, 0);
		registers[MAL_RSP].number -= 8;
		store(rests, registers[MAL_RSP], value);
		return;
	}
	if (at->action == MAL_ACTION_LEAVE)
		registers[MAL_RSP] = registers[MAL_RBP];
	value = load(rests, at, registers[MAL_RSP], 8);
	registers[MAL_RSP].number += 8;
	if (at->action == MAL_ACTION_LEAVE)
		registers[MAL_RBP] = value;
	else
		write(rests, at, 0, value);
}

static void step(struct rests *rests, const struct mal_instruction *at)
{
	struct cell *registers = rests->now->registers;
	char name[32] = "";

	name_of(at, name, sizeof(name));
	if (at->flow == MAL_FLOW_CALL) {
		for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
			if (!(mal_saved & MAL_BIT(reg)))
				registers[reg] = (struct cell){.number = mix(at->address, reg)};
	} else if (at->action == MAL_ACTION_NONE || at->action == MAL_ACTION_EXTEND ||
		   at->action == MAL_ACTION_JUMP ||
		   (at->action == MAL_ACTION_AND && at->operands[0].reg == MAL_RSP)) {
		return;
	} else if (at->action == MAL_ACTION_PUSH || at->action == MAL_ACTION_POP ||
		   at->action == MAL_ACTION_LEAVE) {
		step_stack(rests, at);
	} else if (at->action == MAL_ACTION_LEA) {
		write(rests, at, 0, address_of(rests, &at->operands[1]));
	} else if (mal_turn_clears(at)) {
		write(rests, at, 0, number(0));
	} else if (at->action == MAL_ACTION_AND && rests->analysis->facts[rests->block].rounds &&
		   at->operands[0].kind == MAL_OPERAND_REGISTER &&
		   at->operands[1].kind == MAL_OPERAND_NUMBER && at->operands[1].number < 0) {
		struct cell *to = &registers[at->operands[0].reg];

		*to = (struct cell){.number = to->rest ? 0 : -rests->turn,
				    .widths = (uint8_t)(to->widths + 1),
				    .rest = REST};
	} else if (!step_copy(rests, at, name) && !step_sum(rests, at, name)) {
		step_any(rests, at, name);
	}
}

/* What is in A, where that has B too; a rest begins where vectors would, or where they ended. */
static void meet(struct rests *rests, struct cell *a, const struct cell *b, uint32_t way)
{
	bool same = a->number == b->number, parts = !a->rest != !b->rest;

	if (!same && a->rest == REST && b->rest == REST && rests->ways <= WAYS) {
		rests->meets = 1;
		*a = way <= rests->way ? *b : *a;
		return;
	}
	if (!same && parts && rests->turn && a->rest < MAY_BE_REST && b->rest < MAY_BE_REST) {
		*a = a->rest ? *a : *b;
		return;
	}
	*a = both(*a, *b, same ? a->number : mix(a->number ^ b->number, 2));
	a->blurred |= !same;
	if (!same && parts)
		a->rest = MAY_BE_REST;
}

static void enter(struct rests *rests, const struct now *from, uint32_t way)
{
	struct now *now = rests->now;

	if (!from->live)
		return;
	if (!now->live) {
		*now = *from;
		return;
	}
	for (unsigned int reg = 0; reg < MAL_REGISTERS; reg++)
		meet(rests, &now->registers[reg], &from->registers[reg], way);
	for (uint32_t i = 0; i < from->word_count; i++) {
		uint32_t j = 0;

		while (j < now->word_count && now->words[j].address != from->words[i].address)
			j++;
		if (j < now->word_count)
			meet(rests, &now->words[j].cell, &from->words[i].cell, way);
		else
			store(rests, number(from->words[i].address), from->words[i].cell);
	}
}

/* Each block once, by what comes before it. */
static void go_through(struct rests *rests, uint64_t turn)
{
	const struct mal_flow_graph *graph = &rests->analysis->graph;

	rests->turn = turn;
	rests->count = 0;
	memset(rests->nows, 0, graph->block_count * sizeof(*rests->nows));
	for (uint32_t i = 0; i < graph->order_count && !rests->failed; i++) {
		const struct mal_block *block = &graph->blocks[graph->order[i]];

		rests->block = graph->order[i];
		rests->now = &rests->nows[rests->block];
		rests->now->live = !i;
		for (unsigned int reg = 0; reg < MAL_REGISTERS && !i; reg++)
			rests->now->registers[reg] = (struct cell){.number = mix(reg, 0)};
		rests->ways = block->before_count;
		for (uint32_t j = 0; j < block->before_count; j++)
			if (graph->blocks[block->before[j]].order < (int)i)
				enter(rests, &rests->nows[block->before[j]], j);
		for (uint32_t j = 0; j < block->count && rests->now->live; j++)
			step(rests, &graph->instructions[block->first + j]);
	}
}

/* Whether a loop of iterations that does several at once has it, before REST. */
static bool is_wide(const struct rests *rests, const struct access *wide, const struct access *rest)
{
	const struct mal_flow_graph *graph = &rests->analysis->graph;
	const struct mal_block_facts *facts = rests->analysis->facts, *loop = &facts[wide->block];
	int order = graph->blocks[wide->block].order;

	if (wide->address.rest || wide->stores != rest->stores ||
	    order >= graph->blocks[rest->block].order)
		return 0;
	/* What is read again in the next turn is read before the first one. */
	if (!loop->shared)
		return !wide->stores && wide->bytes > rest->bytes;
	while (order > 0 && !(loop->shared && loop->header))
		loop = &facts[graph->order[--order]];
	return labs((long)loop->paces[0]) != 1 && labs((long)loop->paces[1]) != 1;
}

/*
 * Whether REST does what vectors do with their first iteration; or with the last, backwards. Of
 * several numbers of an iteration side by side, that is known of what is no data.
 */
static bool is_same(const struct access *wide, const struct access *rest, uint64_t stride)
{
	bool blurred = wide->value.blurred || rest->value.blurred || !wide->stores;
	bool same = wide->value.number == rest->value.number;
	uint64_t behind = rest->address.number - wide->address.number;

	if (blurred && behind + rest->bytes == wide->bytes)
		return 1;
	if (behind && behind < stride && behind + rest->bytes <= wide->bytes)
		return blurred || (same && wide->value.fixed);
	return !behind && (blurred || same);
}

/* REST is one of WIDE, after TURN iterations. */
static void add_rest(const struct rests *rests, struct access *wide, const struct access *rest,
		     uint32_t turn)
{
	wide->turns |= 1U << turn;
	wide->sizes |= rest->bytes;
	wide->stride = rest->stride;
	wide->loops |= rests->analysis->facts[rest->block].shared;
}

/* Whether the rest of the vectors WIDE leaves out an iteration where they leave the most. */
static bool is_short(const struct access *wide)
{
	uint32_t one = wide->sizes & -wide->sizes, wider = (wide->sizes | wide->bytes) & ~one;
	uint64_t most;

	if (!wide->stores || wide->loops || !one || !wide->stride)
		return 0;
	/* The last vectors are the shortest ones. */
	most = (wider & -wider) / wide->stride;
	return most > 1 && most < TURNS && (wide->turns + 1) >> (most - 1) == 0;
}

/* What the rest does in the iteration TURN, in the first list where it has none done. */
static void match(struct rests *rests, uint32_t turn)
{
	for (uint32_t i = 0; i < rests->count && i < rests->first_count; i++) {
		const struct access *rest = &rests->list[i];

		for (uint32_t j = 0; rest->address.rest && j < rests->first_count; j++)
			if (is_wide(rests, &rests->first[j], rest) &&
			    is_same(&rests->first[j], rest, rests->first[i].stride)) {
				rests->first[i].turns |= 1U << turn;
				add_rest(rests, &rests->first[j], &rests->first[i], turn);
			}
	}
}

/* Whether a way that does not turn back leads from FROM to TO. */
static bool leads(const struct rests *rests, uint32_t from, uint32_t to)
{
	const struct mal_flow_graph *graph = &rests->analysis->graph;
	bool *reached = rests->reached;

	memset(reached, 0, graph->block_count * sizeof(*reached));
	reached[from] = 1;
	for (int order = graph->blocks[from].order; order < graph->blocks[to].order; order++) {
		const struct mal_block *at = &graph->blocks[graph->order[order]];

		for (uint32_t i = 0; i < at->next_count && reached[graph->order[order]]; i++)
			if (graph->blocks[at->next[i]].order > order)
				reached[at->next[i]] = 1;
	}
	return reached[to];
}

/* Whether two of the rest do the same, as wide and on one way. */
static bool is_twice(const struct rests *rests, uint32_t which)
{
	const struct access *list = rests->first, *one = &list[which];

	for (uint32_t i = 0; i < which && one->stores && one->address.rest == REST; i++)
		if (list[i].stores && list[i].address.rest == REST && list[i].bytes == one->bytes &&
		    list[i].address.widths == one->address.widths &&
		    list[i].address.number == one->address.number &&
		    list[i].value.number == one->value.number &&
		    leads(rests, list[i].block, one->block))
			return 1;
	return 0;
}

static void check(struct rests *rests)
{
	const struct mal_block_facts *facts = rests->analysis->facts;

	for (uint32_t i = 0; i < rests->first_count; i++) {
		struct access *one = &rests->first[i];

		if (!is_twice(rests, i) &&
		    (one->address.rest
			     ? one->turns || (one->address.rest == MAY_BE_REST &&
					      facts[one->block].shared)
			     : !one->stores || !(one->turns & (one->turns + 1) || is_short(one))))
			continue;
		rests->analysis->at = one->at;
		mal_mark_bound(rests->analysis, "the rest of vectors that no loop has", NULL);
	}
}

/* What has several iterations at once, and their rest, on WAY where rests meet. */
static int check_way(struct rests *rests, uint32_t way)
{
	rests->way = way;
	go_through(rests, 1);
	free(rests->first);
	rests->first_count = rests->count;
	rests->first = calloc((size_t)rests->count + 1, sizeof(*rests->first));
	if (!rests->first)
		return -1;
	memcpy(rests->first, rests->list, rests->count * sizeof(*rests->first));
	for (uint32_t turn = 0; turn < TURNS && !rests->failed; turn++) {
		go_through(rests, turn);
		for (uint32_t i = 0; !turn && i < rests->count && i < rests->first_count; i++) {
			rests->list[i].stride =
				rests->list[i].address.number - rests->first[i].address.number;
			rests->first[i] = rests->list[i];
		}
		match(rests, turn);
	}
	check(rests);
	return 0;
}

int mal_check_rests(struct mal_analysis *analysis)
{
	struct rests rests = {.analysis = analysis};
	bool some = 0;
	int result = 0;

	for (uint32_t i = 0; i < analysis->graph.block_count; i++)
		some |= analysis->facts[i].rounds && analysis->facts[i].end &&
			analysis->facts[i].end->live;
	if (!some)
		return 0;
	rests.nows = calloc((size_t)analysis->graph.block_count + 1, sizeof(*rests.nows));
	rests.reached = calloc((size_t)analysis->graph.block_count + 1, sizeof(*rests.reached));
	result = rests.nows && rests.reached ? 0 : -1;
	for (uint32_t way = 0; way < (rests.meets ? WAYS : 1) && result == 0; way++)
		result = check_way(&rests, way);
	if (rests.failed)
		mal_mark_bound(analysis, "too large", NULL);
	free(rests.nows);
	free(rests.reached);
	free(rests.list);
	free(rests.first);
	return result;
}
