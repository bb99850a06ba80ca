/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* books.c: what reports of steps add up to. */
#include "libmalleable/cmd/books.h"

#include <errno.h>
#include <jansson.h>
#include <malloc.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libmalleable/base/printable.h"
#include "policies/interface/limits.h"

/* Of a report, and of memory for what is in it. */
#define SIZE_MAX_REPORT (8 << 20)
#define MEMORY_MAX (128 << 20)
/* Longer steps cannot be: a year. */
#define ELAPSED_MAX (366 * 86400.0)
/* A window cannot take more without balancing: all work on one CPU, and serial time and waits. */
#define SLOWER_MAX 3
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
	struct account *list; /* some of one name, until they are merged */
	size_t count, room;
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

/* What became of a report. */
enum verdict { GOOD, LEFT_OUT, NO_REPORT };

/* A number of a report that cannot be more than MOST. */
static enum verdict read_number(const json_t *object, const char *key, double most, double *number,
				struct mal_error *err)
{
	const json_t *item = json_object_get(object, key);

	*number = json_number_value(item);
	if (!json_is_number(item))
		return NO_REPORT;
	if (*number >= 0 && *number <= most)
		return GOOD;
	mal_fail(err, "%s is %.9g, and only 0 to %.9g can be", key, *number, most);
	return LEFT_OUT;
}

/* The CPU seconds of a step that took ALL_S on CPUS CPUs. */
static enum verdict read_measured(const json_t *measured, bool observed, double all_s, double cpus,
				  struct account *sum, struct mal_error *err)
{
	/* Where ranks come to a boundary one after the other, windows overlap. */
	double most = all_s * MAL_MAX_RANKS, elapsed_s, ideal_s, off_s, part;
	enum verdict verdict = read_number(measured, "elapsed_s", most, &elapsed_s, err);

	most = SLOWER_MAX * cpus * elapsed_s;
	if (verdict == GOOD)
		verdict = read_number(measured, "ideal_s", most, &ideal_s, err);
	/* Others used the CPUs: there is no estimate. */
	if (verdict != GOOD || json_is_null(json_object_get(measured, "unbalanced_s")))
		return verdict;
	verdict = read_number(measured, "unbalanced_s", most, &off_s, err);
	if (verdict != GOOD)
		return verdict;
	part = cpus * (elapsed_s > all_s ? all_s / elapsed_s : 1);
	/* What is only observed saves nothing. */
	sum->saved_s = observed ? 0 : (off_s - elapsed_s) * part;
	sum->lost_s = sum->saved_s < 0 ? -sum->saved_s : 0;
	sum->left_s = elapsed_s > ideal_s ? (elapsed_s - ideal_s) * part : 0;
	return GOOD;
}

/* What one report says. */
static enum verdict read_report(const json_t *root, struct account *sum, struct mal_error *err)
{
	const char *policy = json_string_value(json_object_get(root, "policy"));
	double ranks, cpus, all_s;
	enum verdict verdict;

	if (json_integer_value(json_object_get(root, "version")) != 1 || !policy)
		return NO_REPORT;
	*sum = (struct account){.reports = 1};
	verdict = read_number(root, "ranks", MAL_MAX_RANKS, &ranks, err);
	/* No rank ever came. */
	if (verdict != GOOD || ranks < 1)
		return verdict;
	verdict = read_number(root, "cpus", MAL_MAX_CPUS, &cpus, err);
	if (verdict == GOOD)
		verdict = read_number(root, "elapsed_s", ELAPSED_MAX, &all_s, err);
	if (verdict != GOOD)
		return verdict;
	sum->used_s = all_s * cpus;
	return read_measured(json_object_get(root, "measured"), strcmp(policy, "observe") == 0,
			     all_s, cpus, sum, err);
}

static void add(struct account *to, const struct account *sum)
{
	to->reports += sum->reports;
	to->used_s += sum->used_s;
	to->saved_s += sum->saved_s;
	to->lost_s += sum->lost_s;
	to->left_s += sum->left_s;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct account *)a)->name, ((const struct account *)b)->name);
}

/* Make one account of all that have one name. */
static void merge(struct mal_books *books)
{
	struct account *last = books->list;

	if (books->count)
		qsort(books->list, books->count, sizeof(*last), by_name);
	for (size_t i = 1; i < books->count; i++) {
		if (strcmp(last->name, books->list[i].name) == 0)
			add(last, &books->list[i]);
		else
			*++last = books->list[i];
	}
	books->count = books->count ? (size_t)(last - books->list) + 1 : 0;
}

/* Make room for one more account. */
static bool make_room(struct mal_books *books)
{
	struct account *list;

	if (books->count < books->room)
		return true;
	merge(books);
	if (books->count < books->room / 2)
		return true;
	list = reallocarray(books->list, 2 * books->room + 64, sizeof(*list));
	if (!list)
		return false;
	books->list = list;
	books->room = 2 * books->room + 64;
	return true;
}

/* Returns false if memory is out. */
static bool enter(struct mal_books *books, const json_t *root, uid_t owner, struct account *sum)
{
	if (!make_room(books))
		return false;
	switch (books->by) {
	case MAL_BY_PROGRAM: name_program(sum->name, root); break;
	case MAL_BY_POLICY:
		set_name(sum->name, json_string_value(json_object_get(root, "policy")));
		break;
	case MAL_BY_WEEK: name_week(sum->name, root); break;
	case MAL_BY_USER:
	default: snprintf(sum->name, NAME_SIZE, "%u", (unsigned int)owner);
	}
	books->list[books->count++] = *sum;
	add(&books->total, sum);
	return true;
}

/* A report that is read. Memory for what is in it is counted, as a few bytes become many. */
static struct {
	int fd;
	size_t size, memory;
	int wrong; /* errno */
	bool out_of_memory;
} reading;

static size_t read_some(void *buffer, size_t size, void *argument)
{
	ssize_t got;

	(void)argument;
	do
		got = read(reading.fd, buffer, size);
	while (got < 0 && errno == EINTR);
	reading.size += got > 0 ? (size_t)got : 0;
	if (got < 0)
		reading.wrong = errno;
	else if (reading.size > SIZE_MAX_REPORT)
		reading.wrong = EFBIG;
	return reading.wrong ? (size_t)-1 : (size_t)got;
}

static void *take_memory(size_t size)
{
	void *memory;

	if (reading.memory + size > MEMORY_MAX) {
		reading.wrong = EFBIG;
		return NULL;
	}
	memory = malloc(size);
	reading.memory += malloc_usable_size(memory);
	reading.out_of_memory |= !memory;
	return memory;
}

static void give_memory(void *memory)
{
	reading.memory -= malloc_usable_size(memory);
	free(memory);
}

/* Add the report in a regular file of OWNER. */
static enum verdict read_file(struct mal_books *books, int fd, uid_t owner, struct mal_error *err)
{
	enum verdict verdict = NO_REPORT;
	struct account sum;
	json_t *root;

	reading.fd = fd;
	reading.size = reading.memory = 0;
	reading.wrong = 0;
	json_set_alloc_funcs(take_memory, give_memory);
	root = json_load_callback(read_some, NULL, JSON_REJECT_DUPLICATES, NULL);
	if (reading.wrong) {
		mal_fail(err, "%s", strerror(reading.wrong));
		verdict = LEFT_OUT;
	} else if (root) {
		verdict = read_report(root, &sum, err);
	}
	if (verdict == GOOD && !enter(books, root, owner, &sum))
		reading.out_of_memory = true;
	json_decref(root);
	json_set_alloc_funcs(malloc, free);
	return verdict;
}

int mal_books_add(struct mal_books *books, const char *name, int fd, struct mal_error *err)
{
	enum verdict verdict = NO_REPORT;
	struct mal_error why;
	struct stat status;

	reading.out_of_memory = false;
	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		verdict = read_file(books, fd, status.st_uid, &why);
	if (fd >= 0)
		close(fd);
	if (reading.out_of_memory)
		return mal_fail(err, "cannot read %s: out of memory", name);
	books->missed += verdict != GOOD;
	if (verdict == LEFT_OUT)
		mal_fail(err, "left out %s: %s", name, why.text);
	return verdict == LEFT_OUT;
}

/* Who saved most comes first; weeks come in their order. */
static int by_saved(const void *a, const void *b)
{
	const struct account *left = a, *right = b;

	if (left->saved_s != right->saved_s)
		return left->saved_s > right->saved_s ? -1 : 1;
	return strcmp(left->name, right->name);
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
	int result = 0;

	for (size_t i = 0; i < books->count; i++)
		result |= json_array_append_new(list, account_json(&books->list[i]));
	root = json_pack("{s:i, s:s, s:o, s:o, s:I}", "version", 1, "by", by, "accounts", list,
			 "total", account_json(&books->total), "no_reports",
			 (json_int_t)books->missed);
	if (!root || json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) < 0)
		result = -1;
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
	return 0;
}

/* The word for BY. */
static void name_by(enum mal_books_by by, char *name)
{
	const char *word = mal_books_words;

	for (unsigned int i = 0; i < (unsigned int)by; i++)
		word += strcspn(word, "|") + 1;
	snprintf(name, NAME_SIZE, "%.*s", (int)strcspn(word, "|"), word);
}

/* Users of whom the system knows the names get these. Returns 0, or -1 with errno. */
static int name_users(struct mal_books *books)
{
	for (size_t i = 0; i < books->count; i++) {
		char *name = books->list[i].name;
		const struct passwd *user;

		errno = 0;
		user = getpwuid((uid_t)strtoul(name, NULL, 10));
		if (user)
			set_name(name, user->pw_name);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			return -1;
	}
	merge(books);
	return 0;
}

static int print_table(const struct mal_books *books, FILE *out, const char *by)
{
	fprintf(out, "%-32s %9s %12s %12s %12s\n", by, "reports", "CPU hours", "saved",
		"could save");
	for (size_t i = 0; i < books->count; i++)
		print_account(out, &books->list[i]);
	if (books->count > 1)
		print_account(out, &books->total);
	if (books->missed)
		fprintf(out, "%lu files are no reports\n", books->missed);
	return 0;
}

int mal_books_print(struct mal_books *books, FILE *out, enum mal_books_format format,
		    struct mal_error *err)
{
	static int (*const print[])(const struct mal_books *books, FILE *out, const char *by) = {
		[MAL_BOOKS_TABLE] = print_table,
		[MAL_BOOKS_JSON] = print_json,
		[MAL_BOOKS_PROMETHEUS] = print_prometheus,
	};
	char by[NAME_SIZE];

	name_by(books->by, by);
	merge(books);
	if (books->by == MAL_BY_USER && name_users(books) < 0)
		return mal_fail_errno(err, "cannot find the names of users");
	if (books->count && books->by != MAL_BY_WEEK)
		qsort(books->list, books->count, sizeof(*books->list), by_saved);
	set_name(books->total.name, "all");
	errno = 0;
	if (print[format](books, out, by) < 0 || fflush(out) != 0 || ferror(out))
		return mal_fail_errno(err, "cannot print");
	return 0;
}
