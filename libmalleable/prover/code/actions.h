/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* actions.h: what instructions do with values, as far as that is followed. */
#pragma once

enum mal_action {
	/* All that it writes depends on all that it reads. */
	MAL_ACTION_ANY,
	MAL_ACTION_NONE,
	MAL_ACTION_MOVE,
	MAL_ACTION_LEA,
	MAL_ACTION_ADD,
	MAL_ACTION_SUBTRACT,
	MAL_ACTION_INCREMENT,
	MAL_ACTION_DECREMENT,
	MAL_ACTION_NEGATE,
	MAL_ACTION_SHIFT_LEFT,
	/* May make the same of several numbers. */
	MAL_ACTION_FOLD,
	MAL_ACTION_MULTIPLY,
	MAL_ACTION_DIVIDE,
	MAL_ACTION_EXTEND,
	MAL_ACTION_SIGN,
	MAL_ACTION_CLEAR_SAME,
	/* One that makes all ones, likewise. */
	MAL_ACTION_SET_SAME,
	MAL_ACTION_OR,
	MAL_ACTION_AND,
	MAL_ACTION_COMPARE,
	MAL_ACTION_TEST,
	MAL_ACTION_COMPARE_FLOAT,
	MAL_ACTION_SET,
	MAL_ACTION_CHOOSE,
	MAL_ACTION_EXCHANGE,
	MAL_ACTION_COMPARE_EXCHANGE,
	MAL_ACTION_EXCHANGE_ADD,
	MAL_ACTION_PUSH,
	MAL_ACTION_POP,
	MAL_ACTION_LEAVE,
	MAL_ACTION_STRING,
	/* Words side by side in vectors. */
	MAL_ACTION_PAIR,
	MAL_ACTION_VECTOR_ADD,
	MAL_ACTION_SPREAD,
	MAL_ACTION_FLOAT_ADD,
	MAL_ACTION_FLOAT_MULTIPLY,
	MAL_ACTION_FLOAT_LESS,
	MAL_ACTION_FLOAT_MORE,
	MAL_ACTION_JUMP,
	/* A thread learns about itself or its processor, or saves the state of its registers. */
	MAL_ACTION_SYSTEM,
	/* It replaces the first part of a vector; the rest of it is used by no compiler. */
	MAL_ACTION_CONVERT,
};
