/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * names.c: functions of the C, C++, Fortran, MPI and OpenMP libraries that are known, and found by
 * their names.
 */
#include <stdio.h>
#include <string.h>

#include "libmalleable/prover/code/names.h"

enum { ANY = MAL_ANY_ARGUMENTS };

#define ROW(kind, integers, reason, names) {MAL_EXTERNAL_##kind, integers, 7, reason, names}
#define NUMBERS(vectors, names) {MAL_EXTERNAL_PURE, 0, vectors, NULL, names}

/* The first that has a name counts. */
static const struct mal_external table[] = {
	/* The runtimes: plain constructs. */
	ROW(THREAD, 0, NULL, " omp_get_thread_num omp_get_thread_num_ "),
	ROW(THREADS, 0, NULL, " omp_get_num_threads omp_get_num_threads_ "),
	ROW(GLOBAL_THREAD, 0, NULL, " __kmpc_global_thread_num "),
	ROW(STATIC_INIT, 0, NULL,
	    " __kmpc_for_static_init_4 __kmpc_for_static_init_4u __kmpc_for_static_init_8 "
	    "__kmpc_for_static_init_8u "),
	ROW(DISPATCH_NEXT, 0, NULL,
	    " __kmpc_dispatch_next_4 __kmpc_dispatch_next_4u __kmpc_dispatch_next_8 "
	    "__kmpc_dispatch_next_8u "),
	ROW(BINDS, 0, "ordered",
	    " GOMP_loop_ordered* GOMP_loop_ull_ordered* GOMP_ordered* GOMP_doacross* "
	    "GOMP_loop_doacross* GOMP_loop_ull_doacross* __kmpc_ordered __kmpc_end_ordered "
	    "__kmpc_doacross* "),
	ROW(RUNTIME, 0, NULL,
	    " GOMP_loop_end GOMP_loop_end_nowait GOMP_barrier __kmpc_barrier "
	    "__kmpc_for_static_fini __kmpc_dispatch_init_4 __kmpc_dispatch_init_4u "
	    "__kmpc_dispatch_init_8 __kmpc_dispatch_init_8u __kmpc_dispatch_fini_4 "
	    "__kmpc_dispatch_fini_4u __kmpc_dispatch_fini_8 __kmpc_dispatch_fini_8u "
	    "__kmpc_dispatch_deinit __kmpc_end_single __kmpc_end_master __kmpc_end_masked "),
	ROW(BINDS, 0, "a loop of another kind", " GOMP_loop_start GOMP_loop_ull_start "),
	ROW(LOOP_NEXT, 0, NULL, " GOMP_loop_* "),
	ROW(ONCE, 0, NULL, " GOMP_single_start __kmpc_single __kmpc_master __kmpc_masked "),
	ROW(PROTECT, 0, NULL, " GOMP_atomic_start __kmpc_reduce __kmpc_reduce_nowait "),
	ROW(PROTECT_END, 0, NULL, " GOMP_atomic_end __kmpc_end_reduce __kmpc_end_reduce_nowait "),
	ROW(BINDS, 0, "a nested region",
	    " GOMP_parallel_start GOMP_parallel_end __kmpc_serialized_parallel "
	    "__kmpc_end_serialized_parallel "),
	ROW(FORK, ANY, "a nested region",
	    " GOMP_parallel* GOMP_teams_reg __kmpc_fork_call __kmpc_fork_call_if "
	    "__kmpc_fork_teams "),
	ROW(CLAUSE, ANY, "a num_threads clause",
	    " __kmpc_push_num_threads __kmpc_push_num_threads_strict "),
	/* The runtimes: what binds. */
	ROW(BINDS, 0, "a critical section",
	    " GOMP_critical* __kmpc_critical __kmpc_critical_with_hint __kmpc_end_critical "),
	ROW(BINDS, 0, "a lock",
	    " omp_set_lock* omp_unset_lock* omp_test_lock* omp_set_nest_lock* omp_unset_nest_lock* "
	    "omp_test_nest_lock* omp_init_* omp_destroy_* __kmpc_set_lock* __kmpc_unset_lock* "),
	ROW(BINDS, 0, "tasks",
	    " GOMP_task* __kmpc_omp_task* __kmpc_omp_wait* __kmpc_task* __kmpc_omp_reg_task* "),
	ROW(BINDS, 0, "sections", " GOMP_sections* __kmpc_sections* __kmpc_next_section* "),
	ROW(BINDS, 0, "cancellation", " GOMP_cancel* __kmpc_cancel* "),
	ROW(BINDS, 0, "copyprivate", " GOMP_single_copy* __kmpc_copyprivate* "),
	ROW(BINDS, 0, "teams or target",
	    " GOMP_teams* GOMP_target* GOMP_distribute* __kmpc_push_num_teams* __kmpc_dist_* "
	    "__tgt_* omp_target_* "),
	ROW(ASKS, 0, "threadprivate memory", " __kmpc_threadprivate* "),
	NUMBERS(0, " __kmpc_flush omp_get_wtime omp_get_wtick omp_get_wtime_ omp_get_wtick_ "
		   "omp_get_level omp_get_level_ omp_in_final omp_is_initial_device "),
	ROW(ASKS, 0, "the state of the runtime", " omp_* kmp_* ompx_* GOMP_* __kmpc_* "),
	/* Who a thread is. */
	ROW(ASKS, 0, "which thread it is",
	    " pthread_self pthread_equal pthread_getspecific pthread_setspecific "
	    "pthread_key_create pthread_once gettid thrd_current tss_get tss_set tss_create "
	    "sched_getcpu getcpu pthread_getattr_np __cxa_get_globals __cxa_get_globals_fast "
	    "MPI_Is_thread_main mpi_is_thread_main_ PMPI_Is_thread_main _ZNSt6thread* "
	    "__cxa_thread_atexit __cxa_thread_atexit_impl pthread_getname_np pthread_getcpuclockid "
	    "call_once "),
	ROW(ASKS, 0, "where a thread runs",
	    " sched_getaffinity sched_setaffinity pthread_getaffinity_np pthread_setaffinity_np "),
	ROW(ASKS, 0, "thread-local storage",
	    " __tls_get_addr __emutls_get_address uselocale setlocale "),
	ROW(ASKS, 0, "a thread's device or context",
	    " cuda* cublas* cufft* cusparse* cusolver* cuInit cuCtx* cuDevice* cuLaunch* cuMem* "
	    "cuStream* hip* rocblas* nvml* clGet* clCreate* clEnqueue* acc_* "),
	ROW(ASKS, 0, "what it may find", " dlsym dlvsym dlopen dladdr syscall "),
	ROW(BINDS, 0, "setjmp or contexts",
	    " setjmp _setjmp __sigsetjmp sigsetjmp getcontext setcontext swapcontext makecontext "
	    "vfork fork clone "),
	/* The end of the program. */
	ROW(END, 0, NULL,
	    " abort exit _exit _Exit quick_exit __assert_fail __stack_chk_fail __cxa_throw "
	    "__cxa_rethrow _Unwind_Resume __cxa_throw_bad_array_new_length "
	    "__cxa_throw_bad_array_length __cxa_bad_cast __cxa_bad_typeid __cxa_pure_virtual "
	    "__cxa_deleted_virtual __cxa_call_unexpected __cxa_call_terminate _ZSt9terminatev "
	    "_ZSt10unexpectedv __fortify_fail __chk_fail __libc_start_main err errx verr verrx "
	    "_gfortran_stop_string _gfortran_stop_numeric _gfortran_error_stop_string "
	    "_gfortran_error_stop_numeric _gfortran_runtime_error _gfortran_runtime_error_at "
	    "_gfortran_os_error _gfortran_os_error_at MPI_Abort PMPI_Abort mpi_abort_ pmpi_abort_ "
	    "mpi_abort__ _ZSt16__throw* _ZSt17__throw* _ZSt18__throw* _ZSt19__throw* "
	    "_ZSt20__throw* _ZSt21__throw* _ZSt22__throw* _ZSt24__throw* _ZSt25__throw* "
	    "_ZSt26__throw* _ZSt27__throw* _ZSt28__throw* _ZSt35__throw* "),
	ROW(BINDS, 0, "setjmp or contexts",
	    " longjmp _longjmp siglongjmp __longjmp_chk pthread_exit "),
	/* MPI and threads of the program's own. */
	NUMBERS(0, " MPI_Wtime mpi_wtime_ PMPI_Wtime MPI_Wtick "),
	ROW(BINDS, 0, MAL_CALL_OF_MPI, " MPI_* PMPI_* mpi_* pmpi_* ompi_* _ZN3MPI* _ZNK3MPI* "),
	ROW(BINDS, 0, "threads of the program's own",
	    " pthread_* sem_* mtx_* cnd_* thrd_* _ZNSt18condition_variable* _ZNSt15__future* "
	    "_ZNSt5mutex* _ZNSt13__future* futex "),
	/* Memory and mathematics. */
	ROW(MEMORY, 3, NULL,
	    " memset memcpy memmove mempcpy __memcpy_chk __memmove_chk __memset_chk "),
	ROW(PURE, 1, NULL,
	    " malloc free _Znwm _Znam _ZdlPv _ZdaPv strlen getenv isalpha isdigit isspace isupper "
	    "islower isalnum toupper tolower abs labs llabs clock time times strdup atoi atol atof "
	    "__popcountdi2 _gfortran_string_len_trim "),
	ROW(PURE, 2, NULL,
	    " calloc realloc aligned_alloc memalign _ZdlPvm _ZdaPvm _ZdlPvSt11align_val_t "
	    "_ZdaPvSt11align_val_t _ZnwmSt11align_val_t _ZnamSt11align_val_t strcmp strchr strrchr "
	    "strstr gettimeofday clock_gettime clock_getres nanosleep div ldiv lldiv strcspn "
	    "strspn _gfortran_pow_i4_i4 _gfortran_pow_i8_i4 _gfortran_pow_i8_i8 "),
	ROW(PURE, 3, NULL,
	    " posix_memalign memcmp bcmp memchr strncmp strcasecmp strncasecmp "
	    "_ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t __dynamic_cast frexp frexpf ldexp "
	    "ldexpf modf modff scalbn scalbnf scalbln sincos sincosf lgamma_r jn yn strtod strtol "
	    "strtoul strtoll __powidf2 __powisf2 __powitf2 _gfortran_pow_r4_i4 _gfortran_pow_r8_i4 "
	    "_gfortran_pow_r8_i8 _gfortran_pow_c8_i4 usleep sleep sched_yield remquo "),
	ROW(PURE, 4, NULL, " clock_nanosleep "),
	NUMBERS(1,
		" acos acosf acosh acoshf asin asinf asinh asinhf atan atanf atanh atanhf cbrt "
		"cbrtf ceil ceilf cos cosf cosh coshf erf erfc erfcf erff exp exp10 exp2 exp2f "
		"expf expm1 expm1f fabs fabsf floor floorf ilogb isinf isnan j0 j1 lgamma llrint "
		"llround llroundf log log10 log10f log1p log1pf log2 log2f logb logbf logf lrint "
		"lrintf lround lroundf nearbyint nearbyintf rint rintf round roundf sin sinf sinh "
		"sinhf sqrt sqrtf tan tanf tanh tanhf tgamma tgammaf trunc truncf y0 y1 finite "
		"__finite __isinf __isnan __exp1 __signbit __fpclassify acosl asinl atanl cosl "
		"coshl expl fabsl floorl ceill logl sinl sinhl sqrtl tanl tanhl roundl truncl "),
	NUMBERS(7,
		" atan2 atan2f copysign copysignf fdim fdimf fma fmaf fmax fmaxf fmin fminf fmod "
		"fmodf hypot hypotf nextafter nextafterf pow powf remainder remainderf cabs carg "
		"ccos cexp clog conj creal csin csqrt sincospi atan2l fmodl powl "),
	NUMBERS(0, " __errno_location __cxa_get_exception_ptr _ZNSt6chrono3_V212steady_clock3nowEv "
		   "_ZNSt6chrono3_V212system_clock3nowEv __gxx_personality_v0 _Unwind_GetIP "),
	NUMBERS(15, " cpow cpowf __muldc3 __mulsc3 __divdc3 __divsc3 "),
	ROW(PURE, 0, NULL,
	    " _ZGV* __addtf3 __subtf3 __multf3 __divtf3 __eqtf2 __netf2 __letf2 __lttf2 __getf2 "
	    "__gttf2 __unordtf2 __extenddftf2 __extendsftf2 __trunctfdf2 __trunctfsf2 __fix* "
	    "__float* __acos_finite __asin_finite __atan2_finite __cosh_finite __exp_finite "
	    "__log_finite __pow_finite __sinh_finite __sqrt_finite __hypot_finite __exp10_finite "
	    "__log10_finite __log2_finite __exp2_finite __fmod_finite "),
	/* Effects. */
	ROW(CALLBACK, ANY, NULL,
	    " qsort qsort_r bsearch atexit on_exit __cxa_atexit signal sigaction _ZSt8for_each* "),
	ROW(EFFECT, ANY, NULL,
	    " printf fprintf sprintf snprintf vprintf vfprintf vsprintf vsnprintf __printf_chk "
	    "__fprintf_chk __sprintf_chk __snprintf_chk __vfprintf_chk __vsnprintf_chk scanf "
	    "fscanf sscanf __isoc99_sscanf __isoc99_fscanf __isoc99_scanf __isoc23_sscanf perror "
	    "asprintf __asprintf_chk "),
	ROW(EFFECT, 4, NULL,
	    " fclose fopen fopen64 freopen fflush fputc fputs fwrite fread fgets fgetc getc "
	    "getline fseek ftell rewind feof ferror putc putchar puts strcpy strcat strncpy "
	    "strncat stpcpy __strcpy_chk __strcat_chk __strncpy_chk __strncat_chk remove rename "
	    "unlink open open64 close read write lseek mmap munmap mprotect madvise mkdir stat "
	    "fstat srand rand srand48 drand48 rand_r erand48 strerror strtok localtime gmtime "
	    "asctime ctime random srandom setenv unsetenv system popen pclose gethostname uname "
	    "getpid getrusage setvbuf fileno isatty memfd_create __cxa_guard_acquire "
	    "__cxa_guard_release __cxa_guard_abort __cxa_allocate_exception __cxa_free_exception "
	    "__cxa_begin_catch __cxa_end_catch __cxa_finalize __gmon_start__ _ITM_* __cxa_demangle "
	    "uncaught_exception "),
	ROW(EFFECT, ANY, NULL, " _gfortran_* _FortranA* "),
	/* What is left of the C++ library. */
	ROW(EFFECT, ANY, NULL,
	    " _ZNSt* _ZNKSt* _ZSt* _ZNSo* _ZNSi* _ZNSs* _ZNKSs* _ZNSd* _ZTV* _ZTI* _ZTS* _ZTT* "
	    "_ZNVSt* _ZNSa* _ZNKSa* _ZNSb* _ZNKSb* _ZTC* _ZN9__gnu_cxx* _ZNK9__gnu_cxx* "),
};

static bool is_in(const char *names, const char *name)
{
	char word[80];

	if (snprintf(word, sizeof(word), " %s ", name) < (int)sizeof(word) && strstr(names, word))
		return 1;
	for (const char *star = strchr(names, '*'); star; star = strchr(star + 1, '*')) {
		const char *begin = star;

		while (begin[-1] != ' ')
			begin--;
		if (strncmp(name, begin, (size_t)(star - begin)) == 0)
			return 1;
	}
	return 0;
}

const struct mal_external *mal_external(const char *name)
{
	static const struct mal_external other = {MAL_EXTERNAL_OTHER, MAL_ANY_ARGUMENTS, 7, NULL,
						  ""};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (is_in(table[i].names, name))
			return &table[i];
	return &other;
}

/* What is not here changes nothing where it is pure, else anything: it is not thread-safe. */
static const struct {
	enum mal_external_stores stores;
	const char *names;
} stores_table[] = {
	{MAL_STORES_NOTHING,
	 " __atomic_* _ZSt18_Rb_tree_increment* _ZSt18_Rb_tree_decrement* _ZSt11_Hash_bytes* "
	 "getpid getrusage _gfortran_compare_string _gfortran_string_index _gfortran_string_scan "
	 "_gfortran_string_verify "},
	{MAL_STORES_FIRST,
	 " sprintf snprintf vsprintf vsnprintf __sprintf_chk __snprintf_chk __vsnprintf_chk strcpy "
	 "strcat strncpy strncat stpcpy __strcpy_chk __strcat_chk __strncpy_chk __strncat_chk "
	 "rand_r erand48 _ZNSt7__cxx1112basic_string* _ZNSs* _ZNKSt* _ZNKSs* "
	 "_ZNSt7__cxx1115basic_string* _ZNSt8ios_base* _ZNSo* _ZSt16__ostream_insert* "
	 "_ZNSt6locale* "},
	{MAL_STORES_GIVEN,
	 " time times gettimeofday clock_gettime clock_getres nanosleep clock_nanosleep "
	 "posix_memalign frexp frexpf modf modff sincos sincosf sincospi lgamma_r strtod strtol "
	 "strtoul strtoll remquo sscanf __isoc99_sscanf __isoc23_sscanf "
	 "_ZNSt8__detail15_List_node_base* _ZSt29_Rb_tree_insert_and_rebalance* "},
	/* lgamma() sets signgam. */
	{MAL_STORES_ANYWHERE, " lgamma lgammaf lgammal gamma "},
};

enum mal_external_stores mal_external_stores(const struct mal_external *external, const char *name)
{
	for (size_t i = 0; i < sizeof(stores_table) / sizeof(stores_table[0]); i++)
		if (is_in(stores_table[i].names, name))
			return stores_table[i].stores;
	switch (external->kind) {
	case MAL_EXTERNAL_OTHER:
	case MAL_EXTERNAL_EFFECT:
	case MAL_EXTERNAL_CALLBACK: return MAL_STORES_ANYWHERE;
	default: return MAL_STORES_NOTHING;
	}
}

uint64_t mal_external_arguments(const struct mal_external *external)
{
	static const uint8_t order[] = {MAL_RDI, MAL_RSI, MAL_RDX, MAL_RCX, MAL_R8, MAL_R9};
	uint64_t some = 0;

	for (unsigned int i = 0; i < external->integers; i++)
		some |= MAL_BIT(order[i]);
	if (external->integers == MAL_ANY_ARGUMENTS)
		some |= (uint64_t)0xff << MAL_XMM0;
	else if (external->kind == MAL_EXTERNAL_PURE && external->integers % 3 == 0)
		some |= (uint64_t)external->vectors << MAL_XMM0;
	return some;
}

const struct mal_external *mal_slot_external(const struct mal_slot *slot)
{
	struct mal_slot *known = (struct mal_slot *)slot;

	if (!known->external)
		known->external = mal_external(slot->symbol ? slot->symbol : "?");
	return known->external;
}

static const struct mal_slot *slot_of(const struct mal_image *image,
				      const struct mal_instruction *instruction)
{
	if (instruction->target)
		return mal_image_stub(image, instruction->target);
	return instruction->slot ? mal_image_slot(image, instruction->slot) : NULL;
}

const struct mal_slot *mal_call_slot(const struct mal_image *image,
				     const struct mal_instruction *instruction)
{
	const struct mal_slot *slot = slot_of(image, instruction);

	return slot && slot->kind != MAL_SLOT_ADDRESS ? slot : NULL;
}

uint64_t mal_call_target(const struct mal_image *image, const struct mal_instruction *instruction)
{
	const struct mal_slot *slot = slot_of(image, instruction);

	if (slot)
		return slot->kind == MAL_SLOT_ADDRESS ? slot->value : 0;
	return instruction->target;
}
