// SPDX-License-Identifier: LGPL-2.1-or-later
/* What external.c has. */
#ifndef T_INSPECT_PROGRAMS_EXTERNAL_H
#define T_INSPECT_PROGRAMS_EXTERNAL_H
double external_value(double x);
void external_send(const double *data, int count);
void external_count(void);
long external_calls(void);

/* A function of the library's that a caller gets by its address alone. */
typedef int external_function(void);
external_function *external_choice(void);
#endif
