// The functions of dav1d that are called.
#include <dav1d/version.h>

#include "stubs.h"
#include "include/CLazyLibraries.h"

#define TEXT(number) #number
#define TEXT_OF(macro) TEXT(macro)

// Structures change with the number in the name: it must be the one whose headers were compiled.
LAZY_LIBRARY(dav1d, "libdav1d.so." TEXT_OF(DAV1D_API_VERSION_MAJOR))

const char *clazy_load_dav1d(void) { return lazy_load(&lazy_library_dav1d); }

LAZY_FUNCTION(dav1d, dav1d_close)
LAZY_FUNCTION(dav1d, dav1d_data_create)
LAZY_FUNCTION(dav1d, dav1d_data_unref)
LAZY_FUNCTION(dav1d, dav1d_default_settings)
LAZY_FUNCTION(dav1d, dav1d_flush)
LAZY_FUNCTION(dav1d, dav1d_get_picture)
LAZY_FUNCTION(dav1d, dav1d_open)
LAZY_FUNCTION(dav1d, dav1d_picture_unref)
LAZY_FUNCTION(dav1d, dav1d_send_data)
LAZY_FUNCTION(dav1d, dav1d_version)
