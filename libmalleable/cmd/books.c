/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* books.c: what reports of steps add up to. */
#include "libmalleable/cmd/books.h"

#include <jansson.h>
#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/printable.h"

/* Larger files, times and counts are no reports. */
#define SIZE_MAX_REPORT (8 << 20)
#define NUMBER_MAX 1e9
#define NAME_SIZE 33
#define HOUR 3600.0

const char mal_books_words[] = "user|program|policy|week";

/* CPU seconds of all reports of one name. */
struct account {
	char name[NAME_SIZE];
	unsigned long reports;
	double used_s, saved_s, left_s;
	double lost_s; /* in steps that were slower; SAVED_S is less by it */
};

struct mal_books {
	enum mal_books_by by;
	struct account *list;
	size_t count;
	struct account total;
	unsigned long missed; /* no reports */
};

struct mal_books *mal_books_open(enum mal_books_by by)
{
	struct mal_books *books = calloc(1, sizeof(*books));

	if (books)
		books->by = by;
	return books;
}

void mal_books_close(struct mal_books *books)
{
	if (books)
		free(books->list);
	free(books);
}

static void set_name(char *name, const char *text)
{
	snprintf(name, NAME_SIZE, "%s", text && *text ? text : "?");
	mal_make_printable(name, strlen(name), false);
}

static void name_user(char *name, uid_t uid)
{
	const struct passwd *user = getpwuid(uid);
	char number[16];

	snprintf(number, sizeof(number), "%u", (unsigned int)uid);
	set_name(name, user ? user->pw_name : number);
}

static void name_program(char *name, const json_t *root)
{
	const char *word = json_string_value(json_array_get(json_object_get(root, "command"), 0));
	const char *slash = word ? strrchr(word, '/') : NULL;

	set_name(name, slash ? slash + 1 : word);
}

/* The week of ISO 8601: 2026-W48. */
static void name_week(char *name, const json_t *root)
{
	const char *when = json_string_value(json_object_get(root, "timestamp"));
	struct tm date = {0};

	set_name(name, NULL);
	if (!when || !strptime(when, "%Y-%m-%dT%H:%M:%SZ", &date))
		return;
	/* Which day of the week it is. */
	timegm(&date);
	strftime(name, NAME_SIZE, "%G-W%V", &date);
}

static bool read_number(const json_t *object, const char *key, double *number)
{
	const json_t *item = json_object_get(object, key);

	*number = json_number_value(item);
	return json_is_number(item) && isfinite(*number) && *number >= 0 && *number <= NUMBER_MAX;
}

/* What one report says. False: it is none. */
static bool read_report(const json_t *root, struct account *sum)
{
	const json_t *measured = json_object_get(root, "measured");
	const char *policy = json_string_value(json_object_get(root, "policy"));
	double ranks, cpus, all_s, elapsed_s, off_s, ideal_s;

	if (json_integer_value(json_object_get(root, "version")) != 1 || !policy ||
	    !read_number(root, "ranks", &ranks))
		return false;
	*sum = (struct account){.reports = 1};
	/* No rank ever came. */
	if (ranks < 1)
		return true;
	if (!read_number(root, "cpus", &cpus) || !read_number(root, "elapsed_s", &all_s) ||
	    !read_number(measured, "elapsed_s", &elapsed_s) ||
	    !read_number(measured, "ideal_s", &ideal_s))
		return false;
	sum->used_s = all_s * cpus;
	/* Others used the CPUs: there is no estimate. */
	if (json_is_null(json_object_get(measured, "unbalanced_s")))
		return true;
	if (!read_number(measured, "unbalanced_s", &off_s))
		return false;
	/* What is only observed saves nothing. */
	if (strcmp(policy, "observe") != 0)
		sum->saved_s = (off_s - elapsed_s) * cpus;
	sum->lost_s = sum->saved_s < 0 ? -sum->saved_s : 0;
	sum->left_s = elapsed_s > ideal_s ? (elapsed_s - ideal_s) * cpus : 0;
	return true;
}

static struct account *find(struct mal_books *books, const char *name)
{
	struct account *list;

	for (size_t i = 0; i < books->count; i++)
		if (strcmp(books->list[i].name, name) == 0)
			return &books->list[i];
	list = reallocarray(books->list, books->count + 1, sizeof(*list));
	if (!list)
		return NULL;
	books->list = list;
	memset(&list[books->count], 0, sizeof(*list));
	strcpy(list[books->count].name, name);
	return &list[books->count++];
}

static void add(struct account *to, const struct account *sum)
{
	to->reports += sum->reports;
	to->used_s += sum->used_s;
	to->saved_s += sum->saved_s;
	to->lost_s += sum->lost_s;
	to->left_s += sum->left_s;
}

static bool enter(struct mal_books *books, const json_t *root, uid_t owner)
{
	char name[NAME_SIZE];
	struct account sum, *account;

	if (!read_report(root, &sum))
		return false;
	switch (books->by) {
	case MAL_BY_PROGRAM: name_program(name, root); break;
	case MAL_BY_POLICY:
		set_name(name, json_string_value(json_object_get(root, "policy")));
		break;
	case MAL_BY_WEEK: name_week(name, root); break;
	case MAL_BY_USER:
	default: name_user(name, owner);
	}
	account = find(books, name);
	if (!account)
		return false;
	add(account, &sum);
	add(&books->total, &sum);
	return true;
}

void mal_books_miss(struct mal_books *books)
{
	books->missed++;
}

void mal_books_add(struct mal_books *books, int fd)
{
	struct stat status;
	json_t *root = NULL;

	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= SIZE_MAX_REPORT)
		root = json_loadfd(fd, JSON_REJECT_DUPLICATES, NULL);
	if (!root || !enter(books, root, status.st_uid))
		mal_books_miss(books);
	json_decref(root);
	close(fd);
}

/* Who saved most comes first; weeks come in their order. */
static int by_saved(const void *a, const void *b)
{
	const struct account *left = a, *right = b;

	if (left->saved_s != right->saved_s)
		return left->saved_s > right->saved_s ? -1 : 1;
	return strcmp(left->name, right->name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct account *)a)->name, ((const struct account *)b)->name);
}

static json_t *account_json(const struct account *account)
{
	return json_pack("{s:s, s:I, s:f, s:f, s:f}", "name", account->name, "reports",
			 (json_int_t)account->reports, "cpu_s", account->used_s, "saved_cpu_s",
			 account->saved_s, "left_cpu_s", account->left_s);
}

static int print_json(const struct mal_books *books, FILE *out, const char *by)
{
	json_t *list = json_array(), *root;
	int result;

	for (size_t i = 0; i < books->count; i++)
		json_array_append_new(list, account_json(&books->list[i]));
	root = json_pack("{s:i, s:s, s:o, s:o, s:I}", "version", 1, "by", by, "accounts", list,
			 "total", account_json(&books->total), "no_reports",
			 (json_int_t)books->missed);
	result = root ? json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : -1;
	fputc('\n', out);
	json_decref(root);
	return result;
}

static void print_account(FILE *out, const struct account *account)
{
	fprintf(out, "%-32s %9lu %12.2f %12.2f %12.2f\n", account->name, account->reports,
		account->used_s / HOUR, account->saved_s / HOUR, account->left_s / HOUR);
}

/* A label's value: what a name may hold and the format gives a meaning to is escaped. */
static void print_label(FILE *out, const char *name)
{
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			fputc('\\', out);
		fputc(*name, out);
	}
}

static double count_reports(const struct account *account)
{
	return (double)account->reports;
}

static double used(const struct account *account)
{
	return account->used_s;
}

static double saved(const struct account *account)
{
	return account->saved_s + account->lost_s;
}

static double lost(const struct account *account)
{
	return account->lost_s;
}

static double left(const struct account *account)
{
	return account->left_s;
}

static int print_prometheus(const struct mal_books *books, FILE *out, const char *by)
{
	static const struct {
		const char *name, *help;
		double (*value)(const struct account *account);
	} metrics[] = {
		{"malleable_steps_total", "Balanced steps, one for each node.", count_reports},
		{"malleable_used_cpu_seconds_total", "CPU seconds of balanced steps.", used},
		{"malleable_saved_cpu_seconds_total", "CPU seconds that balancing saved.", saved},
		{"malleable_lost_cpu_seconds_total", "CPU seconds of steps that were slower.",
		 lost},
		{"malleable_left_cpu_seconds_total", "CPU seconds that could be saved still.",
		 left},
	};

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		fprintf(out, "# HELP %s %s\n# TYPE %s counter\n", metrics[i].name, metrics[i].help,
			metrics[i].name);
		for (size_t k = 0; k < books->count; k++) {
			fprintf(out, "%s{%s=\"", metrics[i].name, by);
			print_label(out, books->list[k].name);
			fprintf(out, "\"} %.15g\n", metrics[i].value(&books->list[k]));
		}
	}
	fprintf(out,
		"# HELP malleable_no_reports Files that are no reports.\n"
		"# TYPE malleable_no_reports gauge\nmalleable_no_reports %lu\n",
		books->missed);
	return ferror(out) ? -1 : 0;
}

/* The word for BY. */
static void name_by(enum mal_books_by by, char *name)
{
	const char *word = mal_books_words;

	for (unsigned int i = 0; i < (unsigned int)by; i++)
		word += strcspn(word, "|") + 1;
	snprintf(name, NAME_SIZE, "%.*s", (int)strcspn(word, "|"), word);
}

int mal_books_print(struct mal_books *books, FILE *out, enum mal_books_format format)
{
	char by[NAME_SIZE];

	name_by(books->by, by);
	if (books->count)
		qsort(books->list, books->count, sizeof(*books->list),
		      books->by == MAL_BY_WEEK ? by_name : by_saved);
	set_name(books->total.name, "all");
	if (format == MAL_BOOKS_JSON)
		return print_json(books, out, by);
	if (format == MAL_BOOKS_PROMETHEUS)
		return print_prometheus(books, out, by);
	fprintf(out, "%-32s %9s %12s %12s %12s\n", by, "reports", "CPU hours", "saved",
		"could save");
	for (size_t i = 0; i < books->count; i++)
		print_account(out, &books->list[i]);
	if (books->count > 1)
		print_account(out, &books->total);
	if (books->missed)
		fprintf(out, "%lu files are no reports\n", books->missed);
	return ferror(out) ? -1 : 0;
}
