/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * commands.h: the commands status and top in one program, for tests of what they print: their
 * names are told apart.
 */
#pragma once

#include "libmalleable/cmd/status.c"
#define usage usage_of_top
#define arguments top_arguments
#define tool top_tool
#define show top_show
#define show_found top_show_found
#define print_rank top_print_rank
#define print_step top_print_step
#define parse_arguments top_parse_arguments
#include "libmalleable/cmd/top.c"
#undef print_step
