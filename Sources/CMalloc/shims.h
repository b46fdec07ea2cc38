// The C library's own allocator settings, which Swift's module of the C library leaves out.
#ifndef THUMBNAILER_CMALLOC_H
#define THUMBNAILER_CMALLOC_H

#include <malloc.h>

#endif
