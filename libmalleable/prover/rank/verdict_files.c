/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * verdict_files.c: files of verdicts: lines of text, and a hash of them in the last. A file has one
 * of 1024 names, so that they replace each other instead of adding up.
 */
#include "libmalleable/prover/rank/verdict_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Count the number up with each change of the prover that makes verdicts stricter. */
#define FORMAT "malleable verdicts 9 " PACKAGE_VERSION
enum { FILES = 1024, FILE_SIZE = 256 << 10 };
/* The writer of a file that is this old and not complete has died. */
#define ABANDONED_S 60

/* Whether the file or directory FD is of TYPE, and nobody else can have written there. */
static bool is_ours(int fd, mode_t type, struct stat *status)
{
	return fstat(fd, status) == 0 && (status->st_mode & S_IFMT) == type &&
	       status->st_uid == geteuid() && !(status->st_mode & (S_IWGRP | S_IWOTH));
}

/* Our directory, -1 if there is none to use. MAKE: make it if need be. */
static int open_directory(bool make)
{
	const char *base = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	char path[4096];
	struct stat status;
	int above, fd;

	if (base && *base == '/') {
		if (snprintf(path, sizeof(path), "%s", base) >= (int)sizeof(path))
			return -1;
	} else if (!home || *home != '/' ||
		   snprintf(path, sizeof(path), "%s/.cache", home) >= (int)sizeof(path)) {
		return -1;
	}
	if (make)
		mkdir(path, 0700);
	above = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (above < 0)
		return -1;
	if (make)
		mkdirat(above, "malleable", 0700);
	fd = openat(above, "malleable", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(above);
	if (fd >= 0 && !is_ours(fd, S_IFDIR, &status)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void name_file(const struct mal_identity *identity, char *name, size_t size)
{
	snprintf(name, size, "%03x", (unsigned int)(identity->content % FILES));
}

/* The first lines: what the rest is about. */
static int print_head(const struct mal_identity *identity, uint64_t prover, char *text, size_t size)
{
	return snprintf(text, size,
			FORMAT " %" PRIx64 "\nobject %" PRIx64 " %" PRIx64 " code %" PRIx64
			       " %" PRIx64 "\n",
			prover, identity->content, identity->segments, identity->text_begin,
			identity->text_end);
}

/* A word for a line: names come from the program's file, and may have anything in them. */
static const char *word(const char *text, char *buffer, size_t size)
{
	size_t i = 0;

	for (; text && text[i] && i + 1 < size; i++)
		buffer[i] = text[i] > ' ' || (text[i] == ' ' && i) ? text[i] : '?';
	if (!i)
		buffer[i++] = '-';
	buffer[i] = '\0';
	return buffer;
}

/* NAMED: free regions that other objects may bind have their names, as the report has them then. */
static void print(FILE *to, const struct mal_verdicts *verdicts, bool named)
{
	char name[256], reason[256], alone[256], sums[256];

	if (verdicts->part)
		fputs("part\n", to);
	else
		fprintf(to, "facts %d %d\n", verdicts->unknown, verdicts->indirect_observes);
	for (size_t i = 0; i < verdicts->question_count; i++)
		fprintf(to, "question %d %s\n", verdicts->questions[i].observes_team,
			verdicts->questions[i].symbol);
	for (size_t i = 0; i < verdicts->count; i++) {
		const struct mal_verdict *verdict = &verdicts->list[i];
		bool nameless = verdict->free && !(named && verdict->indirect);

		if (!verdict->address)
			continue;
		fprintf(to, "region %" PRIx64 " %d %d %" PRIx64 " %s\t%s\t%s\t%s\n",
			verdict->address, verdict->free, verdict->indirect, verdict->where,
			word(nameless ? NULL : verdict->name, name, sizeof(name)),
			word(verdict->reason, reason, sizeof(reason)),
			word(verdict->alone, alone, sizeof(alone)),
			word(verdict->sums, sums, sizeof(sums)));
	}
}

/* The whole file, to be freed; NULL where it is too large or cannot be made. */
static char *compose(const struct mal_identity *identity, uint64_t prover,
		     const struct mal_verdicts *verdicts, bool named, size_t *size)
{
	char head[512], *text = NULL;
	FILE *to = open_memstream(&text, size);

	if (!to)
		return NULL;
	print_head(identity, prover, head, sizeof(head));
	fputs(head, to);
	print(to, verdicts, named);
	if (fflush(to) == 0)
		fprintf(to, "end %" PRIx64 "\n", mal_identity_hash(0, text, *size));
	if (fclose(to) != 0 || *size > FILE_SIZE) {
		free(text);
		return NULL;
	}
	return text;
}

/* A file of one's own that is renamed: others see the old one or the whole new one. */
static bool write_file(int directory, const char *name, const char *text, size_t size)
{
	struct rlimit limit;
	char temporary[32];
	struct stat status;
	bool whole;
	int fd;

	/* A write beyond the limit would end the program (SIGXFSZ). */
	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur < size)
		return false;
	snprintf(temporary, sizeof(temporary), "%s.new", name);
	fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0) {
		if (errno == EEXIST &&
		    fstatat(directory, temporary, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    status.st_mtime + ABANDONED_S < time(NULL))
			unlinkat(directory, temporary, 0);
		return false;
	}
	whole = write(fd, text, size) == (ssize_t)size;
	whole &= close(fd) == 0;
	whole = whole && renameat(directory, temporary, directory, name) == 0;
	if (!whole)
		unlinkat(directory, temporary, 0);
	return whole;
}

bool mal_verdicts_can_store(void)
{
	int directory = open_directory(true);

	if (directory < 0)
		return false;
	close(directory);
	return true;
}

/* The whole file as one string, to be freed, or NULL. */
static char *read_file(const char *name)
{
	int directory = open_directory(false), fd;
	struct stat status;
	char *text = NULL;
	ssize_t length = -1;

	if (directory < 0)
		return NULL;
	/* Not blocking, as somebody may have put a pipe there. */
	fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	close(directory);
	if (fd < 0)
		return NULL;
	if (is_ours(fd, S_IFREG, &status) && status.st_size > 0 && status.st_size <= FILE_SIZE &&
	    (text = calloc(1, (size_t)status.st_size + 1)))
		length = read(fd, text, (size_t)status.st_size);
	close(fd);
	if (text && (length != status.st_size || strlen(text) != (size_t)length)) {
		free(text);
		return NULL;
	}
	return text;
}

bool mal_verdicts_store(const struct mal_identity *identity, uint64_t prover,
			const struct mal_verdicts *verdicts)
{
	bool stored = false;
	char name[8], *text;
	int directory;
	size_t size;

	text = compose(identity, prover, verdicts, true, &size);
	/* Of thousands of regions the names may be too much. */
	if (!text)
		text = compose(identity, prover, verdicts, false, &size);
	directory = text ? open_directory(true) : -1;
	if (directory >= 0) {
		name_file(identity, name, sizeof(name));
		stored = write_file(directory, name, text, size);
		close(directory);
	}
	free(text);
	return stored;
}

/* Whether TEXT ends with the hash of what is before it. Cuts that off. */
static bool is_whole(char *text)
{
	char expected[32], *end = NULL;

	for (char *at = text; (at = strstr(at, "\nend ")); at++)
		end = at + 1;
	if (!end)
		return false;
	snprintf(expected, sizeof(expected), "end %" PRIx64 "\n",
		 mal_identity_hash(0, text, (size_t)(end - text)));
	if (strcmp(end, expected) != 0)
		return false;
	*end = '\0';
	return true;
}

static bool read_question(const char *line, struct mal_verdicts *verdicts)
{
	struct mal_question *question = &verdicts->questions[verdicts->question_count];

	if ((line[0] != '0' && line[0] != '1') || line[1] != ' ' || !line[2])
		return false;
	question->observes_team = line[0] == '1';
	question->symbol = strdup(line + 2);
	verdicts->question_count += question->symbol != NULL;
	return question->symbol;
}

static char *text_of(const char *word)
{
	return strcmp(word, "-") == 0 ? NULL : strdup(word);
}

static bool read_region(char *line, const struct mal_identity *identity,
			struct mal_verdicts *verdicts)
{
	struct mal_verdict *verdict = &verdicts->list[verdicts->count];
	char *first = strsep(&line, "\t"), *reason = strsep(&line, "\t");
	char *alone = strsep(&line, "\t"), *sums = strsep(&line, "\t");
	int is_free, indirect, at = 0;

	if (!sums ||
	    sscanf(first, "%" SCNx64 " %d %d %" SCNx64 " %n", &verdict->address, &is_free,
		   &indirect, &verdict->where, &at) != 4 ||
	    !at || !first[at])
		return false;
	/* In the object's code, and in order: what looks for one relies on that. */
	if (verdict->address < identity->text_begin || verdict->address >= identity->text_end ||
	    (verdicts->count && verdict[-1].address >= verdict->address) ||
	    (unsigned int)is_free > 1)
		return false;
	verdict->free = is_free;
	verdict->indirect = indirect;
	verdict->name = text_of(first + at);
	verdict->reason = text_of(reason);
	verdict->alone = text_of(alone);
	verdict->sums = text_of(sums);
	verdicts->count++;
	return true;
}

static bool read_facts(const char *line, struct mal_verdicts *verdicts)
{
	int unknown, indirect_observes;

	if (sscanf(line, "%d %d", &unknown, &indirect_observes) != 2)
		return false;
	verdicts->unknown = unknown;
	verdicts->indirect_observes = indirect_observes;
	return true;
}

static bool read_line(char *line, const struct mal_identity *identity,
		      struct mal_verdicts *verdicts)
{
	if (strcmp(line, "part") == 0)
		return verdicts->part = true;
	if (strncmp(line, "facts ", 6) == 0)
		return read_facts(line + 6, verdicts);
	if (strncmp(line, "question ", 9) == 0)
		return read_question(line + 9, verdicts);
	return strncmp(line, "region ", 7) == 0 && read_region(line + 7, identity, verdicts);
}

/* So many places for verdicts and questions as there are lines. */
static bool make_room(const char *text, struct mal_verdicts *verdicts)
{
	size_t lines = 1;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	verdicts->list = calloc(lines, sizeof(*verdicts->list));
	verdicts->questions = calloc(lines, sizeof(*verdicts->questions));
	return verdicts->list && verdicts->questions;
}

static bool parse(char *text, const struct mal_identity *identity, uint64_t prover,
		  struct mal_verdicts *verdicts)
{
	char head[512], *rest;
	int length = print_head(identity, prover, head, sizeof(head));

	if (!is_whole(text) || strncmp(text, head, (size_t)length) != 0 ||
	    !make_room(text, verdicts))
		return false;
	for (char *line = strtok_r(text + length, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (!read_line(line, identity, verdicts))
			return false;
	return true;
}

bool mal_verdicts_load(const struct mal_identity *identity, uint64_t prover,
		       struct mal_verdicts *verdicts)
{
	char name[8], *text;
	bool known;

	*verdicts = (struct mal_verdicts){0};
	name_file(identity, name, sizeof(name));
	text = read_file(name);
	known = text && parse(text, identity, prover, verdicts);
	free(text);
	if (!known)
		mal_verdicts_free(verdicts);
	return known;
}
