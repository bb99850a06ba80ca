/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sanitizer.c: step aside for the runtimes of sanitizers. GCC's libasan ends a program in which
 * another library is preloaded before it ("ASan runtime does not come first in initial library
 * list"); functions of the others precede ours or report what ours do.
 *
 * Invariant: a program with such a runtime runs as without us, and one line tells that it is not
 * balanced (t/unit/test_sanitizer.c, t/t2010-compatibility.t).
 *
 * Nothing here calls a libc function that such a runtime interposes: the first such call would
 * start the runtime, which ends the program. Each loop over text holds a barrier, so that the
 * compiler does not turn it into a call of strlen(3) or memmove(3).
 */
#include "libmalleable/rank/program/sanitizer.h"

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "libmalleable/base/channel.h"
#include "libmalleable/base/raw.h"
#include "libmalleable/base/symbols.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/launcher_table.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/core/setup.h"
#include "libmalleable/core/variables.h"

/* How long the controller may take to answer. */
#define ANSWER_S 5
#define BARRIER() __asm__ volatile("" ::: "memory")

/* Each runtime defines one of these, in a library or the executable; otherwise they are NULL. */
void __asan_init(void) __attribute__((weak));
void __hwasan_init(void) __attribute__((weak));
void __msan_init(void) __attribute__((weak));
void __tsan_init(void) __attribute__((weak));

/* All of them refer to it, where the program was linked with it. */
static bool is_of_runtimes(const char *name, void *data)
{
	const char *rest = mal_behind((char *)(uintptr_t)name, "__sanitizer_symbolize_code");

	(void)data;
	return rest && !*rest;
}

/* Of the executable, into INFO. No function of the C library: a library may replace it. */
static void find_headers(struct dl_phdr_info *info)
{
	ElfW(auxv_t) entries[64];
	long fd = MAL_RAW(SYS_openat, AT_FDCWD, "/proc/self/auxv", O_RDONLY | O_CLOEXEC), got;

	if (fd < 0)
		return;
	got = MAL_RAW(SYS_read, fd, entries, sizeof(entries));
	MAL_RAW(SYS_close, fd);
	for (long i = 0; (i + 1) * (long)sizeof(entries[0]) <= got; i++) {
		if (entries[i].a_type == AT_PHDR)
			info->dlpi_phdr = (const void *)entries[i].a_un.a_val;
		else if (entries[i].a_type == AT_PHNUM)
			info->dlpi_phnum = (ElfW(Half))entries[i].a_un.a_val;
	}
}

/*
 * GCC's runtimes in the executable (-static-libasan, -static-libtsan) export what they interpose
 * alone: memcmp(3) is the program's then.
 */
static bool has_static_one(void)
{
	const struct link_map *program = _r_debug.r_map;
	struct dl_phdr_info info = {.dlpi_addr = program->l_addr};
	uintptr_t function = (uintptr_t)memcmp;
	bool is_program = false;
	struct mal_span span;

	find_headers(&info);
	/* These are the loader's if that was named on the command line. */
	for (int i = 0; info.dlpi_phdr && i < info.dlpi_phnum; i++)
		is_program |=
			info.dlpi_phdr[i].p_type == PT_DYNAMIC &&
			info.dlpi_addr + info.dlpi_phdr[i].p_vaddr == (uintptr_t)program->l_ld;
	if (!is_program)
		return false;
	span = mal_span_of(&info);
	return function >= span.begin && function < span.end &&
	       mal_symbols_any(&info, is_of_runtimes, NULL);
}

static bool has_one(void)
{
	return __asan_init || __hwasan_init || __msan_init || __tsan_init || has_static_one();
}

/* Remove our libraries from LIST, a list of paths, in place. Returns whether any was there. */
static bool take_out(char *list)
{
	char *kept = list, *end;
	bool any = false;

	for (char *path = list; *path; path = *end ? end + 1 : end) {
		for (end = path; *end && *end != ':' && *end != ' '; end++)
			BARRIER();
		if (mal_setup_is_ours(path, (size_t)(end - path))) {
			any = true;
			continue;
		}
		if (kept != list)
			*kept++ = ':';
		for (; path < end; path++) {
			BARRIER();
			*kept++ = *path;
		}
	}
	*kept = '\0';
	return any;
}

/* Returns false if we were not preloaded. */
static bool take_out_of_preload(char **variables)
{
	bool any = false;

	for (; *variables; variables++) {
		char *list = mal_behind(*variables, "LD_PRELOAD=");

		if (list && take_out(list))
			any = true;
	}
	return any;
}

/* Programs that this one starts are no ranks either. */
static void forget(char **variables)
{
	bool hot_teams = mal_variable(variables, MAL_ENV_HOT_TEAMS);
	char **kept = variables;

	for (; *variables; variables++) {
		BARRIER();
		if (!mal_behind(*variables, "MALLEABLE_") &&
		    !(hot_teams && mal_behind(*variables, "KMP_HOT_TEAMS_MODE=")))
			*kept++ = *variables;
	}
	*kept = NULL;
}

/* Whether descriptor DIGIT is the segment of a step that runs; if so note there that we left. */
static bool note_in_segment(const char *digit)
{
	static const uint32_t yes = true;
	struct mal_header header;
	long fd = 0;

	for (; *digit >= '0' && *digit <= '9' && fd < 1 << 20; digit++)
		fd = 10 * fd + *digit - '0';
	if (MAL_RAW(SYS_fcntl, fd, F_GET_SEALS) < 0 ||
	    MAL_RAW(SYS_pread64, fd, &header, sizeof(header), 0L) != (long)sizeof(header) ||
	    header.over)
		return false;
	MAL_RAW(SYS_pwrite64, fd, &yes, sizeof(yes), offsetof(struct mal_header, refused));
	return true;
}

/* Where a launcher closes descriptors: whether the step's controller listens on PATH; tell it. */
static bool tell_controller(const char *path)
{
	static const char request[] = MAL_CHANNEL_VERSION " " MAL_CHANNEL_UNBALANCED "\n";
	static const struct timeval limit = {.tv_sec = ANSWER_S};
	struct sockaddr_un address;
	size_t length = 0;
	char answer[3];
	bool sent;
	long fd;

	address.sun_family = AF_UNIX;
	for (; path[length] && length + 1 < sizeof(address.sun_path); length++) {
		BARRIER();
		address.sun_path[length] = path[length];
	}
	address.sun_path[length] = '\0';
	fd = MAL_RAW(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC);
	if (fd < 0)
		return false;
	MAL_RAW(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	MAL_RAW(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	sent = MAL_RAW(SYS_connect, fd, &address, sizeof(address)) == 0 &&
	       MAL_RAW(SYS_sendto, fd, request, sizeof(request) - 1, MSG_NOSIGNAL) > 0;
	/* Else the step may end before it has heard that. */
	if (sent)
		MAL_RAW(SYS_recvfrom, fd, answer, sizeof(answer));
	MAL_RAW(SYS_close, fd);
	return sent;
}

/* Whether a step runs to which this task belongs. It learns why no rank connected. */
static bool is_inside(char **variables)
{
	const char *digit = mal_variable(variables, MAL_ENV_SEGMENT_FD);
	const char *socket = mal_variable(variables, MAL_ENV_SOCKET);

	return digit && (note_in_segment(digit) || (socket && tell_controller(socket)));
}

/* If the loader was named on the command line, the file that runs is not the program. */
static bool is_loader(char *path)
{
	for (; *path; path++) {
		BARRIER();
		if (mal_behind(path, "/ld-linux"))
			return true;
	}
	return false;
}

bool mal_sanitizer_step_aside(char **argv, char **variables)
{
	static const char line[] =
		"balance: the program has a sanitizer, which must be loaded first; "
		"its ranks run unbalanced\n";
	char program[4096];
	long length;
	bool inside;

	if (!has_one())
		return false;
	length = MAL_RAW(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program, sizeof(program) - 1);
	program[length > 0 ? length : 0] = '\0';
	if (length <= 0 || is_loader(program) || !take_out_of_preload(variables))
		return true;
	inside = mal_is_first(variables) && is_inside(variables) &&
		 !mal_variable(variables, MAL_ENV_QUIET);
	forget(variables);
	if (inside)
		MAL_RAW(SYS_write, STDERR_FILENO, line, sizeof(line) - 1);
	MAL_RAW(SYS_execve, program, argv, variables);
	return true;
}
