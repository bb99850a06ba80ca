/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orders.h: the text of malleable_control_set_many() as a request. */
#pragma once

#include <stddef.h>

#include "libmalleable/base/error.h"

/*
 * Write the orders of TEXT, a line each, as words of one request into WORDS of SIZE bytes. Options
 * may begin with two dashes, as those of malleable set. Returns 0, or -1 with ERR.
 */
int mal_orders_read(const char *text, char *words, size_t size, struct mal_error *err);
