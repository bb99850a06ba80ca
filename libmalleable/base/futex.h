/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* futex.h: sleep until a word in shared memory changes (futex(2)). Thread safe. */
#pragma once

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleep while *WORD is VALUE, for TIMEOUT_NS at most. May return early. */
static inline void mal_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
	struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / 1000000000u),
		.tv_nsec = (long)(timeout_ns % 1000000000u),
	};

	syscall(SYS_futex, word, FUTEX_WAIT, value, &timeout, NULL, 0);
}

/* Wake at most COUNT sleepers, in all processes. */
static inline void mal_futex_wake(_Atomic uint32_t *word, int count)
{
	syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

/* Add one to *WORD and wake one sleeper. This wakes the controller. */
static inline void mal_futex_post(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	mal_futex_wake(word, 1);
}
