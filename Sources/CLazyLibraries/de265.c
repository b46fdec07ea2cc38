// The functions of libde265 that are called.
#include "stubs.h"
#include "include/CLazyLibraries.h"

LAZY_LIBRARY(de265, "libde265.so.0")

const char *clazy_load_de265(void) { return lazy_load(&lazy_library_de265); }

LAZY_FUNCTION(de265, de265_decode)
LAZY_FUNCTION(de265, de265_flush_data)
LAZY_FUNCTION(de265, de265_free_decoder)
LAZY_FUNCTION(de265, de265_get_bits_per_pixel)
LAZY_FUNCTION(de265, de265_get_chroma_format)
LAZY_FUNCTION(de265, de265_get_error_text)
LAZY_FUNCTION(de265, de265_get_image_colour_primaries)
LAZY_FUNCTION(de265, de265_get_image_full_range_flag)
LAZY_FUNCTION(de265, de265_get_image_height)
LAZY_FUNCTION(de265, de265_get_image_matrix_coefficients)
LAZY_FUNCTION(de265, de265_get_image_plane)
LAZY_FUNCTION(de265, de265_get_image_transfer_characteristics)
LAZY_FUNCTION(de265, de265_get_image_width)
LAZY_FUNCTION(de265, de265_get_version)
LAZY_FUNCTION(de265, de265_new_decoder)
LAZY_FUNCTION(de265, de265_peek_next_picture)
LAZY_FUNCTION(de265, de265_push_NAL)
LAZY_FUNCTION(de265, de265_release_next_picture)
LAZY_FUNCTION(de265, de265_reset)
LAZY_FUNCTION(de265, de265_set_parameter_bool)
