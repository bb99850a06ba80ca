/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_settings.c: the table of settings, and the man pages that describe it. */
#include "t/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmalleable/base/number.h"
#include "libmalleable/core/file_name.h"
#include "libmalleable/core/report_wish.h"
#include "libmalleable/core/settings.h"
#include "policies/interface/registry.h"

static void numbers_are_digits(void **state)
{
	static const char *const bad[] = {NULL, "",   " 5",	    "+5",
					  "-5", "5 ", "5x",	    "0x5",
					  "2",	"11", "4294967301", "99999999999999999999"};
	unsigned int value = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(mal_number_parse(bad[i], 3, 10, &value));
	assert_int_equal(value, 7);
	assert_true(mal_number_parse("3", 3, 10, &value));
	assert_int_equal(value, 3);
	assert_true(mal_number_parse("010", 3, 10, &value));
	assert_int_equal(value, 10);
	assert_true(mal_number_parse("4294967295", 0, UINT32_MAX, &value));
	assert_int_equal(value, UINT32_MAX);
}

static const struct mal_setting *site(const char *name)
{
	return mal_setting_find(MAL_SETTING_SITE, name, strlen(name));
}

static int set(struct mal_site *fields, const char *name, const char *text, struct mal_error *err)
{
	const struct mal_setting *setting = site(name);

	assert_non_null(setting);
	return mal_setting_set(setting, fields, text, err);
}

static void each_type_is_stored(void **state)
{
	struct mal_site fields = {.wait_s = 1};
	struct mal_error err;

	(void)state;
	assert_int_equal(set(&fields, "log", "no", &err), 0);
	assert_int_equal(fields.log, MAL_LOG_NONE);
	assert_int_equal(set(&fields, "patience", "1000", &err), 0);
	assert_int_equal(fields.patience, 1000);
	assert_int_equal(set(&fields, "off_file", "/x", &err), 0);
	assert_string_equal(fields.off_file, "/x");
	assert_int_equal(set(&fields, "libdir", "/x y", &err), 0);
	assert_string_equal(fields.libdir, "/x y");
}

static void a_wrong_value_changes_nothing(void **state)
{
	static const struct {
		const char *name, *text, *says;
	} bad[] = {
		{"log", "maybe", "must be syslog, slurmd or no"},
		{"log", "", "must be syslog, slurmd or no"},
		{"log", "sys", "must be syslog, slurmd or no"},
		{"log", "syslog|slurmd", "must be syslog, slurmd or no"},
		{"wait", "61", "must be a number from 1 to 60"},
		{"patience", "0", "must be a number from 1 to 1000"},
		{"patience", "1001", "must be a number from 1 to 1000"},
		{"off_file", "x", "must be an absolute path"},
		{"libdir", "lib/malleable", "must be an absolute path"},
		{"libdir", "", "must be an absolute path"},
		{"report_dir", "reports", "must be an absolute path"},
	};
	const struct mal_site before = {.wait_s = 2, .off_file = "/as/it/was"};
	struct mal_site fields = before;
	char longest[sizeof(fields.policies) + 1];
	struct mal_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(set(&fields, bad[i].name, bad[i].text, &err), -1);
		assert_string_equal(err.text, bad[i].says);
	}
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(set(&fields, "policies", longest, &err), -1);
	assert_string_equal(err.text, "longer than 255 bytes");
	assert_memory_equal(&fields, &before, sizeof(fields));
	assert_int_equal(set(&fields, "policies", longest + 1, &err), 0);
}

/* What is no word of --balance-report is the name of a file. */
static void words_of_reports(void **state)
{
	(void)state;
	assert_null(mal_report_wish_file("off"));
	assert_null(mal_report_wish_file("brief"));
	assert_null(mal_report_wish_file("full"));
	assert_null(mal_report_wish_file(""));
	assert_string_equal(mal_report_wish_file("fuller"), "fuller");
}

static void only_whole_names_are_found(void **state)
{
	(void)state;
	assert_null(site("lo"));
	assert_null(site("logs"));
	assert_null(site("mode"));
	assert_ptr_equal(mal_setting_find(MAL_SETTING_SITE, "share@fast", 5), site("share"));
}

/* The whole of doc/NAME, for the caller to free. */
static char *read_page(const char *name)
{
	const char *directory = getenv("abs_top_srcdir");
	char path[4096], *text = calloc(1, 1 << 16);
	FILE *file;

	snprintf(path, sizeof(path), "%s/doc/%s", directory ? directory : ".", name);
	file = fopen(path, "r");
	if (!file || !text || fread(text, 1, (1 << 16) - 1, file) == 0)
		fail_msg("cannot read %s: abs_top_srcdir is to name the source tree", path);
	fclose(file);
	return text;
}

/* The section of PAGE with HEADING, cut off from the rest. */
static char *section_of(char *page, const char *heading)
{
	char *section = strstr(page, heading), *end;

	if (!section)
		fail_msg("no section '%s'", heading);
	section += strlen(heading);
	end = strstr(section, "\n# ");
	if (end)
		*end = '\0';
	return section;
}

/* How an entry for SETTING begins. */
static void print_heading(const struct mal_setting *setting, char *text, size_t size)
{
	switch (setting->type) {
	case MAL_SETTING_WORD:
	case MAL_SETTING_FLAG:
		snprintf(text, size, "\n*%s*=%s\n\t", setting->name, setting->value);
		break;
	case MAL_SETTING_NUMBER: snprintf(text, size, "\n*%s*=_N_\n\t", setting->name); break;
	default: snprintf(text, size, "\n*%s*=_", setting->name);
	}
}

/*
 * Each setting of PLACE has an entry in SECTION of the man page PAGE, with its bounds; and there is
 * no other entry.
 */
static void compare(enum mal_setting_place place, const char *page, const char *section)
{
	const struct mal_setting *setting;
	unsigned int entries = section[0] == '\n' && section[1] == '*', count = 0;
	char text[512], bounds[64];

	for (size_t i = 0; (setting = mal_setting_at(place, i)); i++, count++) {
		const char *entry, *end, *says;

		print_heading(setting, text, sizeof(text));
		entry = strstr(section, text);
		if (!entry)
			fail_msg("doc/%s: no entry '%s'", page, text);
		end = strstr(entry + 1, "\n\n*");
		snprintf(bounds, sizeof(bounds), "%u to %u", setting->min, setting->max);
		says = strstr(entry, bounds);
		if (setting->type == MAL_SETTING_NUMBER && (!says || (end && says > end)))
			fail_msg("doc/%s: the entry of %s does not say '%s'", page, setting->name,
				 bounds);
	}
	for (const char *at = section; (at = strstr(at, "\n\n*")); at += 3)
		entries += at[3 + strcspn(at + 3, "*\n")] == '*' &&
			   strncmp(at + 3 + strcspn(at + 3, "*\n"), "*=", 2) == 0;
	if (entries != count)
		fail_msg("doc/%s: %u entries for %u settings", page, entries, count);
}

static void man_pages_have_all_keys(void **state)
{
	char *page = read_page("man/balance.7.scd");

	(void)state;
	compare(MAL_SETTING_KEY, "man/balance.7.scd",
		section_of(page, "\n# KEYS FOR ALL POLICIES\n"));
	free(page);
}

static void man_pages_have_all_arguments(void **state)
{
	char *page = read_page("man/balance.8.scd"), *section = section_of(page, "\n# ARGUMENTS\n");
	const struct mal_setting *setting;
	const char *partitions;
	char name[64];

	(void)state;
	compare(MAL_SETTING_SITE, "man/balance.8.scd", section);
	/* The paragraph that names those for partitions. */
	partitions = strstr(section, "\n\n*default*, ");
	assert_non_null(partitions);
	for (size_t i = 0; (setting = mal_setting_at(MAL_SETTING_SITE, i)); i++) {
		const char *end = strstr(partitions, "can be set for a"), *found;

		snprintf(name, sizeof(name), "*%s*", setting->name);
		found = strstr(partitions, name);
		assert_non_null(end);
		if ((found && found < end) != setting->by_partition)
			fail_msg("doc/man/balance.8.scd: %s can%s be set for a partition",
				 setting->name, setting->by_partition ? "" : "not");
	}
	free(page);
}

/* So does the table in the administrator guide, where a star stands for partitions. */
static void guide_has_all_arguments(void **state)
{
	char *page = read_page("admin.md");
	const struct mal_setting *setting;
	char name[64];

	(void)state;
	for (size_t i = 0; (setting = mal_setting_at(MAL_SETTING_SITE, i)); i++) {
		const char *row = strstr(page, "\n| argument |"), *found, *end;

		snprintf(name, sizeof(name), "`%s=`", setting->name);
		found = row ? strstr(row, name) : NULL;
		end = row ? strstr(row, "\n\n") : NULL;
		if (!found || !end || found > end)
			fail_msg("doc/admin.md: %s is not in the table of arguments", name);
		if ((found[strlen(name)] == '*') != setting->by_partition)
			fail_msg("doc/admin.md: %s can%s be set for a partition", name,
				 setting->by_partition ? "" : "not");
	}
	free(page);
}

static void man_pages_have_all_options(void **state)
{
	char *user = read_page("man/balance.7.scd"), *command = read_page("man/malleable.1.scd");
	const struct mal_setting *setting;
	char name[64];

	(void)state;
	for (size_t i = 0; (setting = mal_setting_at(MAL_SETTING_OPTION, i)); i++) {
		snprintf(name, sizeof(name), "*--%s*", setting->name);
		if (!strstr(user, name) || !strstr(command, name))
			fail_msg("%s is not in the man pages", name);
		snprintf(name, sizeof(name), "*%s*", setting->variable);
		if (!strstr(user, name))
			fail_msg("%s is not in balance(7)", name);
	}
	free(user);
	free(command);
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_switch(const struct mal_param *param)
{
	return !param->choices && param->min == 0 && param->max == 1;
}

/* Whether AT, behind the parameter's name, are its bounds or words, or no bounds are told. */
static bool has_bounds(const char *at, const struct mal_param *param)
{
	char bounds[64], word[64];

	if (param->choices) {
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(at, " ;,"), at);
		return strstr(param->choices, word);
	}
	snprintf(bounds, sizeof(bounds), "%g..%g", param->min, param->max);
	return *at == '_' || begins(at, is_switch(param) ? "yes|no" : bounds);
}

/* Whether the default that is told behind AT, before another name, is the parameter's. */
static bool has_default(const char *at, const struct mal_param *param)
{
	const char *found = strstr(at, "default ");
	char value[32];

	if (param->choices || !found || found > at + strcspn(at, "*"))
		return true;
	snprintf(value, sizeof(value), "%g)", param->fallback);
	return begins(found + strlen("default "), !is_switch(param)	? value
						  : param->fallback > 0 ? "yes)"
									: "no)");
}

static void man_pages_have_all_parameters(void **state)
{
	char *page = read_page("man/balance.7.scd"), name[64];
	const struct mal_policy *policy;

	(void)state;
	for (size_t i = 0; (policy = mal_policy_at(i)); i++) {
		char *section, *end;

		snprintf(name, sizeof(name), "\n*%s*", policy->name);
		section = strstr(page, name);
		if (!section)
			fail_msg("policy %s is not in balance(7)", policy->name);
		end = strstr(section + 1, "\n*");
		for (size_t j = 0; j < policy->param_count; j++) {
			const char *found;

			snprintf(name, sizeof(name), "*%s*=", policy->params[j].name);
			found = strstr(section, name);
			if (!found || (end && found > end))
				fail_msg("%s of %s is not in balance(7)", name, policy->name);
			found += strlen(name);
			if (!has_bounds(found, &policy->params[j]))
				fail_msg("bounds of %s of %s are wrong in balance(7)", name,
					 policy->name);
			if (!has_default(found, &policy->params[j]))
				fail_msg("default of %s of %s is wrong in balance(7)", name,
					 policy->name);
		}
	}
	free(page);
}

/* Wrapped, and as the man pages have it. */
static void usage_comes_from_the_table(void **state)
{
	char text[8192] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	assert_non_null(out);
	mal_settings_print(out, MAL_SETTING_OPTION);
	mal_settings_print(out, MAL_SETTING_KEY);
	fclose(out);
	assert_non_null(strstr(text, "  --balance[=policy[,key=value...]]\n"));
	assert_non_null(strstr(text, "  --balance-trace=file              record what"));
	assert_non_null(strstr(text, "  max_threads=N (1 to 4096)         number of"));
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		assert_in_range(strcspn(line, "\n"), 1, 78);
}

/* %j and the like; what is none of them, or does not fit, stays. */
static void names_of_files(void **state)
{
	static const struct {
		const char *name, *wanted;
	} names[] = {
		{"/tmp/plain", "/tmp/plain"},
		{"/a/%j.%s-%x@%h#%n", "/a/12.3-my_job@n1#4"},
		{"%4j%3s%2n%999j", "0012003040000000012"},
		{"100%%j%", "100%j%"},
		{"%k%5%-%-%12", "%k%-%-%12"},
	};
	struct mal_arguments facts = {
		.step = "12.3", .node = "n1.site.org", .job_name = "my/job", .node_number = 4};
	char path[64];
	bool added;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(
			mal_file_name(names[i].name, &facts, path, sizeof(path), &added),
			names[i].wanted);
	assert_false(added);
	facts.node_files = 1;
	assert_string_equal(mal_file_name("/r", &facts, path, sizeof(path), &added),
			    "/r.n1.site.org");
	assert_true(added);
	assert_string_equal(mal_file_name("/r%n", &facts, path, sizeof(path), &added), "/r4");
	assert_string_equal(mal_file_name("/r%h", &facts, path, sizeof(path), &added), "/rn1");
	assert_false(added);
	facts.node_files = 0;
	facts.array_job = "10";
	facts.array_task = "7";
	assert_string_equal(mal_file_name("/%A_%3a", &facts, path, sizeof(path), &added),
			    "/10_007");
	assert_string_equal(mal_file_name("/r%j", &facts, path, sizeof(path), &added), "/r12");
	assert_string_equal(mal_file_name("/r%s", &facts, path, sizeof(path), &added), "/r3.7");
	assert_true(added);
	facts.node_files = 1;
	assert_string_equal(mal_file_name("/r", &facts, path, sizeof(path), &added),
			    "/r.7.n1.site.org");
	facts = (struct mal_arguments){.step = "12.3", .node = "n1"};
	assert_string_equal(mal_file_name("%A_%a", &facts, path, sizeof(path), &added), "12_0");
	facts = (struct mal_arguments){.step = "mpirun", .node = "n1"};
	assert_string_equal(mal_file_name("%j.%s.%x", &facts, path, sizeof(path), &added), "0.0.");
	assert_string_equal(mal_file_name("%j%j%j", &facts, path, 3, &added), "%j%j%j");
	assert_string_equal(mal_file_name("%j%j%j", &facts, path, 4, &added), "000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_digits),
		cmocka_unit_test(each_type_is_stored),
		cmocka_unit_test(a_wrong_value_changes_nothing),
		cmocka_unit_test(words_of_reports),
		cmocka_unit_test(only_whole_names_are_found),
		cmocka_unit_test(man_pages_have_all_keys),
		cmocka_unit_test(man_pages_have_all_arguments),
		cmocka_unit_test(guide_has_all_arguments),
		cmocka_unit_test(man_pages_have_all_options),
		cmocka_unit_test(man_pages_have_all_parameters),
		cmocka_unit_test(usage_comes_from_the_table),
		cmocka_unit_test(names_of_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
