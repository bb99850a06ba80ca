/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_core.c: CPU lists, option texts, the segment, environments that are handed on. */
#include "t/unit/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmalleable/base/cpumask.h"
#include "libmalleable/base/raw.h"
#include "libmalleable/core/elf_file.h"
#include "libmalleable/core/env.h"
#include "libmalleable/core/file_claim.h"
#include "libmalleable/core/launcher_table.h"
#include "libmalleable/core/segment.h"
#include "libmalleable/core/site_report.h"
#include "libmalleable/core/skip_preload.h"
#include "libmalleable/core/spec.h"
#include "libmalleable/core/starts.h"
#include "libmalleable/core/unloadable.h"

static void cpu_lists_are_read_and_written(void **state)
{
	struct mal_cpumask mask;
	struct mal_error err;
	char text[64];

	(void)state;
	assert_int_equal(mal_cpumask_parse("0-3,8,10-11", &mask, &err), 0);
	assert_int_equal(mal_cpumask_count(&mask), 7);
	assert_string_equal(mal_cpumask_format(&mask, text, sizeof(text)), "0-3,8,10-11");
	assert_int_equal(mal_cpumask_next(&mask, 4), 8);
	assert_int_equal(mal_cpumask_next(&mask, 12), MAL_MAX_CPUS);
	assert_int_equal(mal_cpumask_parse("1023\n", &mask, &err), 0);
	assert_true(mal_cpumask_has(&mask, 1023));
}

static void bad_cpu_lists(void **state)
{
	static const char *const bad[] = {"",	  "x",	  "1-",	 "-1",		"3-1",
					  "1024", "1,,2", "1;2", "99999999999", "1,"};
	struct mal_cpumask mask;
	struct mal_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(mal_cpumask_parse(bad[i], &mask, &err), -1);
		assert_int_equal(mal_cpumask_count(&mask), 0);
		assert_non_null(strstr(err.text, "not a list of CPUs"));
	}
}

static void specs_are_read(void **state)
{
	struct mal_spec spec;
	struct mal_error err;

	(void)state;
	assert_int_equal(mal_spec_parse("auto,gain=5,mode=team,gain=7", &spec, &err), 0);
	assert_string_equal(spec.policy, "auto");
	assert_int_equal(spec.count, 3);
	assert_string_equal(spec.pairs[0].value, "5");
	assert_string_equal(spec.pairs[2].key, "gain");
	assert_string_equal(spec.pairs[2].value, "7");
	assert_int_equal(mal_spec_parse("gain=5", &spec, &err), 0);
	assert_string_equal(spec.policy, "");
	assert_int_equal(mal_spec_parse(NULL, &spec, &err), 0);
	assert_int_equal(mal_spec_parse("", &spec, &err), 0);
}

static void bad_specs_say_why(void **state)
{
	static const char *const bad[] = {
		"auto,",
		",auto",
		"auto,gain",
		"auto,=5",
		"auto,gain=",
		"auto,gain=a b",
		"a/b",
		"auto,gain=1,,x=2",
		"auto,k=1,k=1,k=1,k=1,k=1,k=1,k=1,k=1,k=1,k=1,k=1,k=1,k=1,k=1,k=1,k=1,k=1",
		"a-policy-name-that-is-longer-than-any-could-be",
	};
	struct mal_spec spec;
	struct mal_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(mal_spec_parse(bad[i], &spec, &err), -1);
		assert_int_not_equal(err.text[0], '\0');
	}
}

static int make_segment(struct mal_segment *segment)
{
	struct mal_cpumask cpus = {{0xff}};
	struct mal_error err;
	int fd = mal_segment_create(segment, 4, &cpus, &err);

	assert_true(fd >= 0);
	return fd;
}

static void segment_is_shared(void **state)
{
	struct mal_segment a, b;
	struct mal_error err;
	int fd = make_segment(&a);

	(void)state;
	assert_int_equal(mal_segment_open(&b, fd, &err), 0);
	assert_int_equal(b.rank_count, 4);
	assert_int_equal(b.cpu_count, 8);
	mal_thread_slot(&a, 3, 15)->tid = 77;
	assert_int_equal(mal_thread_slot(&b, 3, 15)->tid, 77);
	mal_segment_close(&a);
	mal_segment_close(&b);
	mal_segment_close(&b);
	close(fd);
}

/* No rank can truncate the memory under the others. */
static void segment_is_sealed(void **state)
{
	struct mal_segment segment;
	int fd = make_segment(&segment);

	(void)state;
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ftruncate(fd, 1 << 24), -1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	mal_segment_close(&segment);
	close(fd);
}

/* Programs of the step that the environment names are counted; others are not. */
static void starts_are_counted(void **state)
{
	struct mal_segment segment;
	int fd = make_segment(&segment);
	char number[16];

	(void)state;
	unsetenv(MAL_ENV_SEGMENT_FD);
	mal_starts_open();
	mal_starts_count(MAL_START_LOADED, 1);
	mal_starts_miss(MAL_ABSENT_PMIX);
	snprintf(number, sizeof(number), "%d", fd);
	setenv(MAL_ENV_SEGMENT_FD, number, 1);
	mal_starts_open();
	assert_false(mal_starts_are_whole(segment.header));
	for (int i = 0; i < 2; i++) {
		mal_starts_begin(fd);
		mal_starts_count(MAL_START_LOADED, 1);
		assert_false(mal_starts_are_whole(segment.header));
		mal_starts_count(MAL_START_ENDED, 1);
		assert_true(mal_starts_are_whole(segment.header));
	}
	mal_starts_count(MAL_START_HID_MPI, 1);
	assert_false(mal_starts_are_whole(segment.header));
	assert_int_equal(segment.header->absent, 0);
	mal_starts_miss(MAL_ABSENT_PMIX);
	assert_int_equal(segment.header->absent, 1u << MAL_ABSENT_PMIX);
	mal_starts_begin(-1);
	assert_int_equal(segment.header->starts[MAL_START_BEGUN], 2);
	unsetenv(MAL_ENV_SEGMENT_FD);
	mal_starts_open();
	mal_segment_close(&segment);
	close(fd);
}

static void foreign_files_are_refused(void **state)
{
	struct mal_segment segment;
	struct mal_error err;
	int plain = memfd_create("plain", MFD_ALLOW_SEALING);
	int null = open("/dev/null", O_RDWR);

	(void)state;
	assert_int_equal(mal_segment_open(&segment, plain, &err), -1);
	assert_int_equal(ftruncate(plain, 8192), 0);
	assert_int_equal(fcntl(plain, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
	assert_int_equal(mal_segment_open(&segment, plain, &err), -1);
	assert_int_equal(mal_segment_open(&segment, null, &err), -1);
	assert_int_equal(mal_segment_open(&segment, -1, &err), -1);
	close(plain);
	close(null);
}

/* Its owner could cut it, and a rank that reads beyond its end dies. */
static void unsealed_segments_are_refused(void **state)
{
	struct mal_segment segment, other;
	struct mal_error err;
	int sealed = make_segment(&segment);
	int copy = memfd_create("copy", MFD_ALLOW_SEALING);

	(void)state;
	assert_int_equal(write(copy, segment.header, segment.size), segment.size);
	assert_int_equal(fcntl(copy, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	assert_int_equal(mal_segment_open(&other, copy, &err), -1);
	assert_int_equal(fcntl(copy, F_ADD_SEALS, F_SEAL_SEAL), 0);
	assert_int_equal(mal_segment_open(&other, copy, &err), 0);
	mal_segment_close(&other);
	mal_segment_close(&segment);
	close(copy);
	close(sealed);
}

/*
 * If a rank changes the counts, processes that mapped the segment before do not notice, and later
 * ones refuse it.
 */
static void hostile_counts_are_refused(void **state)
{
	struct mal_segment segment, other;
	struct mal_error err;
	int fd = make_segment(&segment);

	(void)state;
	segment.header->rank_count = 900;
	assert_int_equal(segment.rank_count, 4);
	assert_int_equal(mal_segment_open(&other, fd, &err), -1);
	segment.header->rank_count = 4;
	segment.header->cpu_count = UINT32_MAX;
	assert_int_equal(mal_segment_open(&other, fd, &err), -1);
	mal_segment_close(&segment);
	close(fd);
}

static void snapshots_come_whole(void **state)
{
	struct mal_snapshot written = {.round = 7, .busy = 9}, read;
	struct mal_segment segment;
	int fd = make_segment(&segment);

	(void)state;
	mal_snapshot_write(&segment.ranks[2], &written);
	assert_true(mal_snapshot_read(&segment.ranks[2], &read));
	assert_memory_equal(&written, &read, sizeof(read));
	/*
	 * If a writer died in the middle no reader waits for ever, and another writer may follow.
	 */
	segment.ranks[2].snapshot_sequence |= 1;
	assert_false(mal_snapshot_read(&segment.ranks[2], &read));
	mal_snapshot_write(&segment.ranks[2], &written);
	assert_true(mal_snapshot_read(&segment.ranks[2], &read));
	mal_segment_close(&segment);
	close(fd);
}

static char claimed[] = "/tmp/claimed-XXXXXX";
#define BEGUN 1000000000

/* A file with TEXT in it, written AGO s before the step began. */
static void make_file(const char *text, int ago)
{
	const struct timespec times[2] = {{BEGUN - ago, 0}, {BEGUN - ago, 0}};
	int fd;

	unlink(claimed);
	fd = open(claimed, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

/* STEP, which began at BEGUN, claims the file of that name, into PATH and NOTE. */
static FILE *claim(const char *step, const char **path, struct mal_error *note)
{
	const struct mal_file_claimant by = {step, {BEGUN, 0}};
	static char own[64];

	*path = claimed;
	return mal_file_claim(path, false, "trace", &by, own, sizeof(own), note);
}

/* Whether it gets it; else it has one of its own. */
static bool gets_it(const char *step)
{
	char expected[64];
	struct mal_error note;
	const char *path;
	FILE *file = claim(step, &path, &note);

	assert_non_null(file);
	fclose(file);
	if (path == claimed) {
		assert_string_equal(note.text, "");
		return true;
	}
	snprintf(expected, sizeof(expected), "the trace is in %s.", claimed);
	assert_memory_equal(note.text, expected, strlen(expected));
	snprintf(expected, sizeof(expected), "without %s is another", path + strlen(claimed));
	assert_non_null(strstr(note.text, expected));
	snprintf(expected, sizeof(expected), "%s.%s", claimed, step);
	if (strchr(step, '.'))
		assert_string_equal(path, expected);
	unlink(path);
	return false;
}

static void files_are_claimed(void **state)
{
	struct stat status;

	(void)state;
	close(mkstemp(claimed));
	/* One that is new or older is taken, and emptied. */
	make_file("", 0);
	assert_true(gets_it("12.3"));
	make_file("{\"type\":\"step\",\"version\":1,\"step\":\"11.2\"}", 1);
	assert_true(gets_it("12.3"));
	assert_int_equal(stat(claimed, &status), 0);
	assert_int_equal(status.st_size, 0);
	/* One that was written meanwhile is not. */
	make_file("x", 0);
	assert_false(gets_it("12.3"));
	assert_false(gets_it("mpirun"));
	/* Nor what another step of the job wrote, but what this one did, before it was requeued. */
	make_file("{\"step\": \"12.31\"}", 1);
	assert_false(gets_it("12.3"));
	make_file("{\"type\":\"step\",\"version\":1,\"step\":\"12.0\"}", 1);
	assert_false(gets_it("12.3"));
	make_file("{\"type\":\"step\",\"version\":1,\"step\":\"12.3\"}", 1);
	assert_true(gets_it("12.3"));
	unlink(claimed);
}

/* While another process has claimed it, before that writes into it. */
static void claims_hold(void **state)
{
	int ends[2], back[2];
	char byte;
	pid_t other;

	(void)state;
	make_file("", 1);
	assert_int_equal(pipe(ends) | pipe(back), 0);
	other = fork();
	if (other == 0) {
		struct mal_error note;
		const char *path;
		FILE *file = claim("12.0", &path, &note);

		if (write(back[1], file && path == claimed ? "1" : "0", 1) == 1)
			close(ends[1]);
		_exit(read(ends[0], &byte, 1) > 0);
	}
	assert_int_equal(read(back[0], &byte, 1), 1);
	assert_int_equal(byte, '1');
	assert_false(gets_it("12.3"));
	close(ends[1]);
	assert_int_equal(waitpid(other, NULL, 0), other);
	close(ends[0]);
	close(back[0]);
	close(back[1]);
	assert_true(gets_it("12.3"));
	unlink(claimed);
}

/* A step that was requeued writes into its own file again. */
static void own_names_are_written_again(void **state)
{
	char own[64];

	(void)state;
	snprintf(own, sizeof(own), "%s.12.3", claimed);
	make_file("{\"type\":\"step\",\"version\":1,\"step\":\"12.3\"}", 1);
	assert_int_equal(rename(claimed, own), 0);
	make_file("x", 0);
	assert_false(gets_it("12.3"));
	unlink(claimed);
}

/* No step writes into a file that somebody else led its name to. */
static void own_names_are_no_links(void **state)
{
	const struct mal_file_claimant by = {"12.3", {BEGUN, 0}};
	char own[64], other[64], precious[64];
	struct mal_error note;
	struct stat status;
	const char *path;

	(void)state;
	snprintf(own, sizeof(own), "%s.12.3", claimed);
	snprintf(precious, sizeof(precious), "%s.precious", claimed);
	make_file("precious", 1);
	assert_int_equal(rename(claimed, precious), 0);
	make_file("x", 0);
	for (int hard = 0; hard < 2; hard++) {
		assert_int_equal(hard ? link(precious, own) : symlink(precious, own), 0);
		assert_null(claim("12.3", &path, &note));
		assert_non_null(strstr(note.text, ": a link, or others can write it"));
		unlink(own);
	}
	/* Nor does a name with a part that was added; a whole one its user may have linked. */
	unlink(claimed);
	assert_int_equal(symlink(precious, claimed), 0);
	path = claimed;
	assert_null(mal_file_claim(&path, true, "trace", &by, other, sizeof(other), &note));
	assert_non_null(strstr(note.text, ": a link, or others can write it"));
	assert_int_equal(stat(precious, &status), 0);
	assert_int_equal(status.st_size, strlen("precious"));
	assert_null(claim("12.3", &path, &note));
	assert_non_null(strstr(note.text, ": malleable did not write the file there"));
	assert_int_equal(truncate(precious, 0), 0);
	assert_true(gets_it("12.3"));
	unlink(precious);
	unlink(claimed);
}

/* What is no file is not shared. */
static void devices_are_not_claimed(void **state)
{
	const struct mal_file_claimant by = {"12.3", {0, 0}};
	const char *path;
	struct mal_error note;
	char own[64];
	FILE *file;

	(void)state;
	for (int i = 0; i < 2; i++) {
		path = "/dev/null";
		file = mal_file_claim(&path, false, "report", &by, own, sizeof(own), &note);
		assert_non_null(file);
		assert_string_equal(path, "/dev/null");
		assert_string_equal(note.text, "");
		fclose(file);
	}
	path = "/dev/null/r";
	assert_null(mal_file_claim(&path, false, "report", &by, own, sizeof(own), &note));
	assert_string_equal(note.text, "cannot write the report to /dev/null/r: Not a directory");
	/* What they are for the user they are not for the controller. */
	path = "/dev/stdout";
	assert_null(mal_file_claim(&path, false, "report", &by, own, sizeof(own), &note));
	assert_string_equal(note.text, "cannot write the report to /dev/stdout: name a file");
	path = "/proc/self/fd/2";
	assert_null(mal_file_claim(&path, false, "trace", &by, own, sizeof(own), &note));
}

/* Whether our libraries are here, and what the loader links to. NULL: no link, "": no loader. */
static struct {
	bool libraries;
	const char *loader;
} here = {true, NULL};

int __wrap_access(const char *path, int mode);
long __wrap_mal_raw(long number, long a, long b, long c, long d, long e, long f);
long __real_mal_raw(long number, long a, long b, long c, long d, long e, long f);

int __wrap_access(const char *path, int mode)
{
	(void)mode;
	errno = ENOENT;
	return here.libraries && strncmp(path, "/opt/", 5) == 0 ? 0 : -1;
}

/* Says where the loader is. */
long __wrap_mal_raw(long number, long a, long b, long c, long d, long e, long f)
{
	if (number != SYS_readlinkat)
		return __real_mal_raw(number, a, b, c, d, e, f);
	if (!here.loader || !*here.loader)
		return here.loader ? -ENOENT : -EINVAL;
	return snprintf((char *)(uintptr_t)c, (size_t)d, "%s", here.loader);
}

#define OURS "/opt/libmalleable.so:/opt/libmalleable_mpi.so"

/* Whether a program that is executed here with LD_PRELOAD=PRELOAD gets another environment. */
static bool leaves_out(char *preload)
{
	char *const environment[] = {"MALLEABLE_SEGMENT_FD=999", preload, NULL};
	bool room;

	errno = EBADF;
	room = mal_unloadable_room(environment) > 0;
	assert_int_equal(errno, EBADF);
	return room;
}

static void unloadable_libraries(void **state)
{
	(void)state;
	assert_false(leaves_out("LD_PRELOAD=" OURS));
	here.libraries = false;
	assert_true(leaves_out("LD_PRELOAD=" OURS));
	assert_true(leaves_out("LD_PRELOAD=/usr/lib/liba.so /opt/libmalleable_mpi.so"));
	assert_false(leaves_out("LD_PRELOAD=/usr/lib/liba.so"));
	assert_false(leaves_out("LD_PRELOAD=libmalleable.so"));
	assert_false(leaves_out("LD_PRELOAD="));
	assert_false(leaves_out("LD_PRELOADED=" OURS));
	assert_int_equal(mal_unloadable_room(NULL), 0);
	/* Not of a balanced step. */
	assert_int_equal(mal_unloadable_room((char *[]){"LD_PRELOAD=" OURS, NULL}), 0);
	here.libraries = true;
}

static void older_libc_does_not_fit(void **state)
{
	static const struct {
		const char *loader;
		bool fits;
	} cases[] = {
		{NULL, true},	       {"/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", true},
		{"ld-2.28.so", false}, {"/lib/x86_64-linux-gnu/ld-2.31.so", false},
		{"ld-2.999.so", true}, {"", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		here.loader = cases[i].loader;
		assert_int_equal(mal_unloadable_libc_fits(), cases[i].fits);
		assert_int_equal(leaves_out("LD_PRELOAD=" OURS), !cases[i].fits);
	}
	here.loader = NULL;
}

/* Fails if the copy of BEFORE without what is ours is not AFTER. */
static void check_copy(char *const *before, char *const *after)
{
	size_t room = mal_unloadable_room(before), i = 0;
	char *space = malloc(room);
	char *const *copy;

	assert_true(room && space);
	copy = mal_unloadable_leave_out(before, space);
	for (; copy[i] && after[i]; i++)
		assert_string_equal(copy[i], after[i]);
	assert_true(!copy[i] && !after[i]);
	free(space);
}

static void unloadable_is_left_out(void **state)
{
	char *const before[] = {"A=1",
				"MALLEABLE_SEGMENT_FD=999",
				"LD_PRELOAD=/usr/liba.so:" OURS ":/usr/libb.so",
				"MALLEABLE_CPUS=0-3",
				"MALLEABLE_CPUS=0-3",
				"MALLEABLE_HOT_TEAMS=yes",
				"KMP_HOT_TEAMS_MODE=1",
				"odd",
				"B=2",
				NULL};
	char *const plain[] = {"LD_PRELOAD=" OURS, "KMP_HOT_TEAMS_MODE=1", "MALLEABLE_SEGMENT_FD=9",
			       NULL};
	static char large[5000] = "LD_PRELOAD=" OURS ":";

	(void)state;
	here.libraries = false;
	check_copy(before,
		   (char *[]){"A=1", "LD_PRELOAD=/usr/liba.so:/usr/libb.so", "odd", "B=2", NULL});
	assert_string_equal(before[2], "LD_PRELOAD=/usr/liba.so:" OURS ":/usr/libb.so");
	check_copy(plain, (char *[]){"KMP_HOT_TEAMS_MODE=1", NULL});
	/* More than the stack is given. */
	memset(large + strlen(large), 'x', sizeof(large) - strlen(large) - 1);
	assert_false(leaves_out(large));
	here.libraries = true;
}

/* The segment of a step that runs, and nothing else, is written to. */
static void unloadable_is_reported(void **state)
{
	struct mal_segment segment;
	struct mal_cpumask cpus = {{0}};
	struct mal_error err;
	char number[64];
	char *const environment[] = {number, "LD_PRELOAD=" OURS, NULL};
	char *room[64];
	int fd;

	(void)state;
	mal_cpumask_add(&cpus, 0);
	fd = mal_segment_create(&segment, 1, &cpus, &err);
	assert_true(fd >= 0);
	snprintf(number, sizeof(number), "MALLEABLE_SEGMENT_FD=%d", fd);
	assert_false(atomic_load(&segment.header->unloadable));
	mal_unloadable_leave_out(environment, room);
	assert_true(atomic_load(&segment.header->unloadable));
	mal_segment_close(&segment);
	close(fd);
	fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	mal_segment_note_unloadable(fd);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	close(fd);
}

/* By the innermost launcher; what none started is alone. */
static void innermost_launcher_names_the_first_rank(void **state)
{
	(void)state;
	assert_true(mal_is_first((char *[]){"SLURM_PROCID=0", "A=1", NULL}));
	assert_false(mal_is_first((char *[]){"SLURM_PROCID=10", NULL}));
	assert_false(mal_is_first((char *[]){"SLURM_PROCID=0", "PMIX_RANK=1", NULL}));
	assert_true(mal_is_first((char *[]){"SLURM_PROCID=1", "OMPI_COMM_WORLD_RANK=0", NULL}));
	assert_false(mal_is_first((char *[]){"PMI_RANK=01", NULL}));
	assert_true(mal_is_first((char *[]){"SLURM_PROCID_=1", NULL}));
	assert_true(mal_is_first((char *[]){NULL}));
	assert_true(mal_is_first(NULL));
}

static void sets(char *variable, size_t size, const char *name, const char *value)
{
	assert_non_null(name);
	snprintf(variable, size, "%s=%s", name, value);
}

/* What a row has is found by that row alone; what it lacks comes from the next one. */
static void launchers_of_the_table(void **state)
{
	const struct mal_launcher *each = mal_launchers;
	char program[64], variable[64], other[64] = "PMI_RANK=7";
	char *variables[] = {variable, other, NULL}, *alone[] = {variable, NULL};
	unsigned int number;

	(void)state;
	for (; each->name; each++) {
		snprintf(program, sizeof(program), "/usr/bin/%s", each->daemons[0]);
		assert_string_equal(mal_launcher_of_daemon(program)->daemons[0], each->daemons[0]);
		for (int fact = 0; fact < MAL_LAUNCHER_FACTS; fact++) {
			if (!each->facts[fact])
				continue;
			sets(variable, sizeof(variable), each->facts[fact], "3");
			assert_string_equal(mal_launcher_value(alone, fact), "3");
			assert_true(mal_launcher_number(alone, fact, 3, &number));
			assert_int_equal(number, 3);
		}
	}
	assert_null(mal_launcher_of_daemon("/orted/app"));
	assert_null(mal_launcher_of_daemon("orted2"));
	sets(variable, sizeof(variable), "PMIX_RANK", "9");
	assert_string_equal(mal_launcher_value(variables, MAL_LAUNCHER_RANK), "9");
	assert_true(mal_launcher_number(variables, MAL_LAUNCHER_RANK, 8, &number));
	assert_int_equal(number, 7);
	assert_false(mal_launcher_number(variables, MAL_LAUNCHER_RANK, 6, &number));
	assert_null(mal_launcher_value(variables, MAL_LAUNCHER_LOCAL_RANK));
}

/* Our library is left out for the file PATH in an environment of COUNT variables. */
static bool may_skip(const char *path, size_t count)
{
	static char *environment[2048] = {"LD_PRELOAD=" OURS, "MALLEABLE_SEGMENT_FD=9"};

	for (size_t i = 2; i < count; i++)
		environment[i] = "X=";
	environment[count] = NULL;
	return mal_skip_preload_room(path, environment) > 0;
}

static void short_commands_skip_preload(void **state)
{
	char *before[] = {"A=1", "LD_PRELOAD=" OURS, "MALLEABLE_SEGMENT_FD=9", "B=2", NULL};
	size_t size = mal_skip_preload_room("/bin/true", before);
	void *room = malloc(size);
	char *const *after;
	Dl_info loader;

	(void)state;
	assert_true(may_skip("/bin/true", 2));
	assert_false(may_skip("/bin/sh", 2));
	/* The loader executes whatever its command names. */
	assert_true(dladdr((void *)getauxval(AT_BASE), &loader));
	assert_false(may_skip(loader.dli_fname, 2));
	/* They show the environment. */
	assert_false(may_skip("/usr/bin/printenv", 2));
	/* The copy is on the stack of a thread, which may be small. */
	assert_true(may_skip("/bin/true", 400));
	assert_false(may_skip("/bin/true", 1200));
	/* All else is theirs. */
	assert_true(size > 0 && room);
	after = mal_skip_preload(before, memset(room, 0, size));
	assert_string_equal(after[0], "A=1");
	assert_string_equal(after[1], "MALLEABLE_SEGMENT_FD=9");
	assert_string_equal(after[2], "B=2");
	assert_null(after[3]);
	free(room);
}

/* What a controller may write, and what a user may pass instead: nothing makes the reader wait. */
static void site_reports_make_no_reader_wait(void **state)
{
	static char text[MAL_SITE_REPORT_MAX], more[MAL_SITE_REPORT_MAX];
	int fd = mal_site_report_make(NULL), ends[2], file = open("/proc/self/exe", O_RDONLY);

	(void)state;
	assert_true(fd >= 0 && file >= 0 && pipe(ends) == 0);
	assert_int_equal(mal_site_report_read(fd, text), 0);
	assert_int_equal(pwrite(fd, "{}", 2, 0), 2);
	assert_int_equal(mal_site_report_read(fd, text), 2);
	assert_memory_equal(text, "{}", 2);
	memset(more, 'x', sizeof(more));
	assert_int_equal(pwrite(fd, more, sizeof(more), 2), sizeof(more) - 2);
	assert_int_equal(ftruncate(fd, 2 * sizeof(more)), -1);
	assert_int_equal(mal_site_report_read(fd, text), sizeof(text));
	assert_int_equal(mal_site_report_read(ends[0], text), 0);
	assert_int_equal(mal_site_report_read(file, text), 0);
	assert_int_equal(mal_site_report_read(-1, text), 0);
	close(fd);
	close(file);
	close(ends[0]);
	close(ends[1]);
}

/* A file of COUNT sections; the last name ends with LAST, and the fourth's names are outside. */
static bool opens_file(char last, ElfW(Half) count)
{
	struct {
		ElfW(Ehdr) header;
		ElfW(Shdr) sections[5];
		ElfW(Sym) symbols[2];
		ElfW(Dyn) entries[1];
		char names[8];
	} file = {.names = "abcdefg"};
	char path[] = "/tmp/test_core.XXXXXX";
	int fd = mkstemp(path);
	struct mal_elf_file elf;
	bool opened;

	file.names[7] = last;
	memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = ELFCLASS64;
#if defined(__aarch64__)
	file.header.e_machine = EM_AARCH64;
#else
	file.header.e_machine = EM_X86_64;
#endif
	file.header.e_shoff = offsetof(__typeof__(file), sections);
	file.header.e_shnum = count;
	file.sections[0] = (ElfW(Shdr)){.sh_type = SHT_DYNAMIC,
					.sh_offset = offsetof(__typeof__(file), entries),
					.sh_size = sizeof(file.entries)};
	file.sections[1] = (ElfW(Shdr)){.sh_type = SHT_DYNSYM,
					.sh_offset = offsetof(__typeof__(file), symbols),
					.sh_size = sizeof(file.symbols),
					.sh_link = 2};
	file.sections[2] = (ElfW(Shdr)){.sh_type = SHT_STRTAB,
					.sh_offset = offsetof(__typeof__(file), names),
					.sh_size = sizeof(file.names)};
	file.sections[3] = file.sections[1];
	file.sections[3].sh_link = 4;
	file.sections[4] = (ElfW(Shdr)){.sh_type = SHT_STRTAB, .sh_size = sizeof(file) + 1};
	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	close(fd);
	opened = mal_elf_file_open(&elf, path);
	if (opened) {
		assert_string_equal(mal_elf_file_name(&elf, 2), "cdefg");
		assert_string_equal(mal_elf_file_name(&elf, 8), "");
		mal_elf_file_close(&elf);
	}
	unlink(path);
	return opened;
}

/* Names that do not end would each be as long as the file. */
static void names_of_files_end(void **state)
{
	(void)state;
	assert_true(opens_file('\0', 3));
	assert_false(opens_file('h', 3));
	assert_false(opens_file('\0', 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_lists_are_read_and_written),
		cmocka_unit_test(bad_cpu_lists),
		cmocka_unit_test(specs_are_read),
		cmocka_unit_test(bad_specs_say_why),
		cmocka_unit_test(segment_is_shared),
		cmocka_unit_test(segment_is_sealed),
		cmocka_unit_test(starts_are_counted),
		cmocka_unit_test(foreign_files_are_refused),
		cmocka_unit_test(unsealed_segments_are_refused),
		cmocka_unit_test(hostile_counts_are_refused),
		cmocka_unit_test(snapshots_come_whole),
		cmocka_unit_test(files_are_claimed),
		cmocka_unit_test(claims_hold),
		cmocka_unit_test(own_names_are_written_again),
		cmocka_unit_test(own_names_are_no_links),
		cmocka_unit_test(devices_are_not_claimed),
		cmocka_unit_test(unloadable_libraries),
		cmocka_unit_test(older_libc_does_not_fit),
		cmocka_unit_test(unloadable_is_left_out),
		cmocka_unit_test(unloadable_is_reported),
		cmocka_unit_test(innermost_launcher_names_the_first_rank),
		cmocka_unit_test(launchers_of_the_table),
		cmocka_unit_test(short_commands_skip_preload),
		cmocka_unit_test(site_reports_make_no_reader_wait),
		cmocka_unit_test(names_of_files_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
