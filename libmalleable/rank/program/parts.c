/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* parts.c: which of the loaded objects are parts of the program. */
#include "libmalleable/rank/program/parts.h"

#include <stddef.h>
#include <string.h>

#include "libmalleable/base/symbols.h"
#include "libmalleable/core/elf_file.h"
#include "libmalleable/rank/program/listed.h"

/* More objects than this are parts of the program, whatever they are. */
#define OBJECTS_MAX 512

struct object {
	const char *name; /* of its file */
	ElfW(Addr) base;
	const ElfW(Dyn) * dynamic;
	const char *strings, *other_name;   /* its SONAME, by which others need it */
	bool known, for_known, for_program; /* known by name; what needs it */
	bool loads;			    /* it may load others while the program runs */
};
static struct object objects[OBJECTS_MAX];
static size_t count;
static unsigned long long seen; /* what was loaded and unloaded until then */

static bool is_known(const char *name)
{
	/* clang-format off */
	static const char *const names[] = {
		"libmalleable", "ld-linux", "linux-vdso", "libc.", "libm.", "libpthread.", "libdl.",
		"librt.", "libstdc++.", "libc++", "libgcc_s.", "libgfortran", "libquadmath.",
		"libflang", "libunwind.", "libgomp", "libomp.", "libomp5.", "libomp-", "libiomp5",
		"libompd", "libasan.", "libtsan.", "libubsan.", "libmpi.", "libmpi_", "libmpicxx.",
		"libmpifort.", "libmpich", "libopen-", "libpmi", "mca_", "libprrte.", "libucc",
		"libucs", "libucp.", "libuct", "libucm", "libhwloc", "hwloc_", "libevent_",
		"libfabric.",
		"libpsm", "libibverbs", "librdmacm.", "libmlx", "libefa", "libnl-", "libnuma.",
		"libudev.", "libnss_", "libsystemd.", "libselinux.", "libuuid.", "libcap.",
		"libcap-ng.", "libmunge.", "libslurm", "libcrypto.", "libOpenCL.",
		"libnvidia-opencl.", "libamdocl", "libigdrcl", "libpocl", "libMesaOpenCL",
		"libRusticlOpenCL", "libcuda.",
		"libcudart.", "libnvidia-ml.", "libamdhip64.", "librocm_smi", "libhsa-", "libze_",
		"libjemalloc", "libtcmalloc", "libmimalloc", NULL};
	/* clang-format on */

	return mal_elf_name_is_of(name, names);
}

static bool is_loader(const char *name, void *nothing)
{
	(void)nothing;
	return strcmp(name, "dlopen") == 0 || strcmp(name, "dlmopen") == 0 ||
	       strcmp(name, "dlsym") == 0 || strcmp(name, "dlvsym") == 0;
}

static int add(struct dl_phdr_info *info, size_t size, void *data)
{
	struct object *object = &objects[count];
	struct mal_symbols symbols;

	(void)size;
	(void)data;
	if (count == OBJECTS_MAX)
		return 1;
	mal_symbols_read(info, &symbols);
	*object = (struct object){.name = basename(info->dlpi_name),
				  .base = info->dlpi_addr,
				  .dynamic = symbols.entries,
				  .strings = symbols.names};
	object->known = is_known(object->name);
	object->loads = !object->known && mal_symbols_any(info, is_loader, NULL);
	for (const ElfW(Dyn) *entry = object->dynamic; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_SONAME && object->strings)
			object->other_name = object->strings + entry->d_un.d_val;
	count++;
	return 0;
}

static struct object *find(const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(objects[i].name, name) == 0 ||
		    (objects[i].other_name && strcmp(objects[i].other_name, name) == 0))
			return &objects[i];
	return NULL;
}

/* What OBJECT needs is there for a known library; or for the program, up to known ones. */
static void mark_needed(const struct object *object, bool for_program)
{
	for (const ElfW(Dyn) *entry = object->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
		struct object *needed = NULL;

		if (entry->d_tag == DT_NEEDED && object->strings)
			needed = find(object->strings + entry->d_un.d_val);
		if (!needed || needed->known ||
		    (for_program ? needed->for_program : needed->for_known))
			continue;
		needed->for_program |= for_program;
		needed->for_known |= !for_program;
		mark_needed(needed, for_program);
	}
}

static bool is_part(const struct object *object)
{
	return !object->known && (object->for_program || !object->for_known);
}

/* What the program's objects from BEGIN to END need is there for the program. */
static void mark_for_program(size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		if (!objects[i].known && !objects[i].for_known)
			mark_needed(&objects[i], true);
}

static bool any_loads(size_t end)
{
	for (size_t i = 0; i < end; i++)
		if (objects[i].loads && is_part(&objects[i]))
			return true;
	return false;
}

/*
 * What came later, where nothing of the program loads anything, is there for a known library that
 * loaded it by its name, as drivers and plugins are. No region calls it but through that one.
 */
static void look(void)
{
	size_t first = mal_listed_first();

	count = 0;
	mal_listed_each(add, NULL);
	for (size_t i = 0; i < count; i++)
		if (objects[i].known)
			mark_needed(&objects[i], false);
	first = first && first < count ? first : count;
	mark_for_program(0, first);
	if (any_loads(first))
		mark_for_program(first, count);
	else
		for (size_t i = first; i < count; i++)
			objects[i].for_known = true;
}

bool mal_part_of_program(const struct dl_phdr_info *info)
{
	unsigned long long changes = info->dlpi_adds + info->dlpi_subs;

	if (!count || changes != seen)
		look();
	seen = changes;
	for (size_t i = 0; i < count; i++)
		if (objects[i].base == info->dlpi_addr)
			return is_part(&objects[i]);
	return true;
}
