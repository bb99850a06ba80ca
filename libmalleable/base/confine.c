/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* confine.c: give up privileges and system calls that a process of ours does not need. */
#include "libmalleable/base/confine.h"

#include <stddef.h>
#include <sys/prctl.h>

#ifdef HAVE_SECCOMP
#include <errno.h>
#include <seccomp.h>

/* Names that libseccomp or the kernel does not know are skipped. */
static const char *const forbidden[] = {
	/* Other processes and their memory. */
	"ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "process_madvise",
	"userfaultfd",
	/* Other identities. */
	"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid",
	"setfsgid", "setgroups", "capset",
	/* Keys. */
	"add_key", "keyctl", "request_key",
	/* Namespaces and mounts. */
	"unshare", "setns", "mount", "umount2", "mount_setattr", "move_mount", "open_tree",
	"fsopen", "fsconfig", "fsmount", "fspick", "pivot_root", "chroot", "name_to_handle_at",
	"open_by_handle_at", "quotactl", "quotactl_fd", "swapon", "swapoff",
	/* The kernel itself, and large interfaces that often had vulnerabilities. */
	"bpf", "perf_event_open", "io_uring_setup", "io_uring_enter", "io_uring_register",
	"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
	"syslog", "acct", "iopl", "ioperm", "modify_ldt", "personality", "vhangup", "settimeofday",
	"clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname"};
static const char *const programs[] = {"execve", "execveat"};

static void forbid(scmp_filter_ctx filter, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int number = seccomp_syscall_resolve_name(names[i]);

		if (number != __NR_SCMP_ERROR)
			seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
	}
}

static void filter_calls(bool runs_programs)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter)
		return;
	/*
	 * Before Linux 5.16 a filter also turns on the slow mitigation of speculative stores. Leave
	 * it off: the process has no secrets of other users.
	 */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	forbid(filter, forbidden, sizeof(forbidden) / sizeof(forbidden[0]));
	if (!runs_programs)
		forbid(filter, programs, sizeof(programs) / sizeof(programs[0]));
	seccomp_load(filter);
	seccomp_release(filter);
}
#else
static void filter_calls(bool runs_programs)
{
	(void)runs_programs;
}
#endif

void mal_confine(bool runs_programs)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		filter_calls(runs_programs);
}
