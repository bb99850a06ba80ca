/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * machine.h: runs instructions on made-up numbers. What is not computed as a processor does is a
 * number that follows from all that is read: two pieces of code that do the same get the same.
 */
#ifndef MAL_INSPECT_MACHINE_H
#define MAL_INSPECT_MACHINE_H

#include "libmalleable/inspect/decode.h"

enum { MAL_MACHINE_STORES = 256 };

struct mal_machine {
	uint64_t registers[MAL_REGISTERS];
	/* What the flags compare, of so many bytes; 0: they follow from LEFT. */
	uint64_t left, right;
	unsigned int bytes;
	/* What was stored, each place once. */
	struct mal_machine_store {
		uint64_t address, value;
		unsigned int bytes;
	} stores[MAL_MACHINE_STORES];
	uint32_t store_count;
	/* Memory that is used as a whole number is a small multiple of that; addresses APART. */
	uint64_t scale;
	int apart;
	/* Something was not understood. */
	int failed;
};

/* Registers hold small multiples of SCALE; APART: far from each other. */
void mal_machine_begin(struct mal_machine *machine, uint64_t seed, uint64_t scale, int apart);
void mal_machine_step(struct mal_machine *machine, const struct mal_instruction *at);
/* Whether CONDITION holds now. */
int mal_machine_holds(struct mal_machine *machine, uint8_t condition);
/* Whether both stored the same. */
int mal_machine_same(const struct mal_machine *a, const struct mal_machine *b);

#endif
