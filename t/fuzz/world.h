/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * world.h: included before every fuzzed source. Files, processes and sockets are the input or
 * nothing at all, so that a target is fast and leaves the machine alone.
 */
#pragma once

#define kill fuzz_kill
#define syscall fuzz_syscall
#define fopen fuzz_fopen
#define opendir fuzz_opendir
#define getpid fuzz_getpid
#define recv fuzz_recv
#define recvmsg fuzz_recvmsg
#define sendmsg fuzz_sendmsg
#define accept4 fuzz_accept4
#define getsockopt fuzz_getsockopt
#define pread fuzz_pread
#define send fuzz_send
#define close fuzz_close
#define shutdown fuzz_shutdown
