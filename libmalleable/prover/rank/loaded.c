/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loaded.c: all objects of the program that are loaded at one moment. */
#include "libmalleable/prover/rank/loaded.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "libmalleable/rank/program/listed.h"

struct listing {
	struct mal_loaded *loaded;
	size_t met;
};

static int list_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct listing *listing = data;
	struct mal_loaded *loaded = listing->loaded;
	bool is_first = listing->met++ < mal_listed_first();
	struct mal_object object;

	(void)size;
	if (!mal_object_read(info, &object))
		return 0;
	if (loaded->count == MAL_LOADED) {
		loaded->more = true;
		return 1;
	}
	loaded->first[loaded->count] = is_first;
	snprintf(loaded->paths[loaded->count], MAL_LOADED_PATH, "%s",
		 strlen(object.path) < MAL_LOADED_PATH ? object.path : "?");
	object.path = loaded->paths[loaded->count];
	loaded->objects[loaded->count++] = object;
	return 0;
}

static const char *file_of(const char *path)
{
	const char *last = strrchr(path, '/');

	return last ? last + 1 : path;
}

static bool needs_one_that_observes(const struct mal_loaded *loaded,
				    const struct mal_object *object)
{
	const ElfW(Dyn) *entry = object->names ? object->dynamic : NULL;

	for (; entry && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag != DT_NEEDED)
			continue;
		for (size_t i = 0; i < loaded->count; i++)
			if (loaded->objects[i].observes_team &&
			    strcmp(file_of(loaded->objects[i].path),
				   object->names + entry->d_un.d_val) == 0)
				return true;
	}
	return false;
}

static void let_all_tell(struct mal_loaded *loaded)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < loaded->count; i++) {
			struct mal_object *object = &loaded->objects[i];

			if (object->observes_team || !needs_one_that_observes(loaded, object))
				continue;
			object->observes_team = more = true;
		}
	}
}

/* Called once, for the first object: as long as it runs none is unloaded. */
static int list_all(struct dl_phdr_info *info, size_t size, void *data)
{
	struct listing listing = {.loaded = data};

	(void)info;
	(void)size;
	listing.loaded->changes = mal_objects_changes();
	dl_iterate_phdr(list_one, &listing);
	let_all_tell(listing.loaded);
	return 1;
}

void mal_loaded_read(struct mal_loaded *loaded)
{
	loaded->count = 0;
	loaded->more = false;
	dl_iterate_phdr(list_all, loaded);
}

bool mal_loaded_hold(const struct mal_loaded *loaded, size_t index, void **handle)
{
	const struct mal_object *object = &loaded->objects[index];
	bool first = loaded->first[index];
	struct link_map *map;

	*handle = first ? NULL : dlopen(object->path, RTLD_LAZY | RTLD_NOLOAD);
	if (first ||
	    (*handle && dlinfo(*handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_addr == object->base))
		return true;
	mal_loaded_let_go(*handle);
	return false;
}

void mal_loaded_let_go(void *handle)
{
	if (handle)
		dlclose(handle);
}

bool mal_loaded_tells(const struct mal_loaded *loaded, void *handle, const char *symbol)
{
	void *function = dlsym(RTLD_DEFAULT, symbol);
	struct link_map *map;
	Dl_info info;

	if (!function && handle)
		function = dlsym(handle, symbol);
	if (!function || !dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP))
		return true;
	for (size_t i = 0; i < loaded->count; i++)
		if (loaded->objects[i].base == map->l_addr)
			return loaded->objects[i].observes_team;
	return true;
}
