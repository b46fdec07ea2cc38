// Swift cannot call C's variadic functions: each shim fixes one set of argument types.
#ifndef THUMBNAILER_CVIPS_H
#define THUMBNAILER_CVIPS_H

#include <vips/vips.h>

static inline int cvips_init(const char *name) { return VIPS_INIT(name); }

#endif
