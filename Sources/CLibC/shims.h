// The parts of the C library that Swift's module leaves out: the allocator's settings, and functions with variable
// arguments.
#ifndef THUMBNAILER_CLIBC_H
#define THUMBNAILER_CLIBC_H

#include <malloc.h>
#include <sys/prctl.h>

/// Names the calling thread; Linux keeps the first 15 bytes.
static inline void clibc_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

#endif
