/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * plugin.c: objects that test_known.c and test_objects.c load and unload: -DREGION starts a region,
 * -DASKS asks for thread numbers, -DNEEDS needs the one that asks, -DDATA has data of each thread.
 */
void GOMP_parallel(void (*function)(void *), void *data, unsigned int threads, unsigned int flags);
int omp_get_thread_num(void);
int plugin_asks(void);
int plugin_data(void);
int plugin_needs(void);
int plugin_plain(void);
void plugin_region(void *data);
void plugin_start(void);

#if defined(REGION)
void plugin_region(void *data)
{
	(void)data;
}

void plugin_start(void)
{
	GOMP_parallel(plugin_region, 0, 0, 0);
}
#elif defined(ASKS)
int plugin_asks(void)
{
	return omp_get_thread_num();
}
#elif defined(DATA)
int plugin_data(void)
{
	static _Thread_local int calls;

	return calls++;
}
#elif defined(NEEDS)
int plugin_needs(void)
{
	return plugin_asks();
}
#else
int plugin_plain(void)
{
	return 1;
}
#endif
