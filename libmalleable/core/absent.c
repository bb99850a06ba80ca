/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* absent.c: the libraries that are loaded while a step runs. */
#include "libmalleable/core/absent.h"

static const struct mal_library libraries[] = {
	[MAL_ABSENT_LIBOMP] = {"libomp.so.5", NULL,
			       "programs for libgomp stay on it, and their threads are not seen",
			       "LLVM's libomp (Debian: libomp5-19; RPM: libomp)"},
	[MAL_ABSENT_ZYDIS] = {"libZydis.so", "prover", "no parallel region is known to be free",
			      "Zydis (Debian: libzydis4.0; RPM: zydis)"},
	[MAL_ABSENT_PMIX] = {"libpmix.so.2", "pmix", "no joined report over nodes",
			     "PMIx (Debian: libpmix2; RPM: pmix)"},
};

const struct mal_library *mal_library_at(size_t i)
{
	return i < sizeof(libraries) / sizeof(libraries[0]) ? &libraries[i] : NULL;
}
