/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* decode.h: instructions of x86_64, with every register that they read and write. */
#pragma once

#include "libmalleable/prover/code/image.h"

/* Registers, whole: 16 general ones, 32 of vectors, 8 masks, the flags, and x87 as one. */
enum mal_register {
	MAL_RAX,
	MAL_RCX,
	MAL_RDX,
	MAL_RBX,
	MAL_RSP,
	MAL_RBP,
	MAL_RSI,
	MAL_RDI,
	MAL_R8,
	MAL_R9,
	MAL_R10,
	MAL_R11,
	MAL_R12,
	MAL_R13,
	MAL_R14,
	MAL_R15,
	MAL_XMM0 = 16,
	MAL_MASK0 = 48,
	MAL_FLAGS = 56,
	MAL_X87,
	MAL_REGISTERS,
	MAL_NO_REGISTER = 255,
};

enum mal_operand_kind {
	MAL_OPERAND_NONE,
	MAL_OPERAND_REGISTER,
	MAL_OPERAND_MEMORY,
	MAL_OPERAND_NUMBER
};

struct mal_operand {
	enum mal_operand_kind kind;
	uint8_t reg, high, base, index, scale, read, written;
	uint16_t bytes;
	/* Of memory; of an address relative to the instruction pointer the address itself. */
	int64_t number;
};

enum mal_flow {
	MAL_FLOW_NEXT,
	MAL_FLOW_JUMP,
	MAL_FLOW_BRANCH,
	MAL_FLOW_CALL,
	MAL_FLOW_RETURN,
	MAL_FLOW_STOP,
	MAL_FLOW_TAIL
};

/* Numbers that are rounded, one or a vector of them; a product and a sum at once. */
enum { MAL_ROUNDS_ONE = 1, MAL_ROUNDS_VECTOR = 2, MAL_ROUNDS_FUSED = 4 };

struct mal_instruction {
	uint64_t address;
	uint64_t reads, writes;
	/* Of those that are read: what addresses of memory are made of. */
	uint64_t addressing;
	uint16_t mnemonic;
	/* How its result is rounded, or 0. */
	uint8_t rounds;
	/* Its first bytes, or zeros. */
	uint8_t encoded[4];
	uint8_t length, operand_count, lock, repeat, thread_local_, system, flow;
	/* What it does, and on which condition: see actions.h. */
	uint8_t action, condition;
	/*
	 * Of jumps, branches and calls: to TARGET, if known at once; else through memory at
	 * SLOT.
	 */
	uint64_t target, slot;
	struct mal_operand operands[4];
};

#define MAL_BIT(reg) ((uint64_t)1 << (reg))

/* Decode what is at ADDRESS. Returns whether it is an instruction that is understood. */
bool mal_decode(const struct mal_image *image, uint64_t address, struct mal_instruction *to);

/* Whether what it reads last are two registers that are the same. */
bool mal_is_of_one(const struct mal_instruction *at);
