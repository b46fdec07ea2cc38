// The functions of OpenJPEG that are called.
#include "stubs.h"
#include "include/CLazyLibraries.h"

LAZY_LIBRARY(openjp2, "libopenjp2.so.7")

const char *clazy_load_openjp2(void) { return lazy_load(&lazy_library_openjp2); }

LAZY_FUNCTION(openjp2, opj_create_decompress)
LAZY_FUNCTION(openjp2, opj_decoder_set_strict_mode)
LAZY_FUNCTION(openjp2, opj_destroy_codec)
LAZY_FUNCTION(openjp2, opj_destroy_cstr_info)
LAZY_FUNCTION(openjp2, opj_get_cstr_info)
LAZY_FUNCTION(openjp2, opj_get_decoded_tile)
LAZY_FUNCTION(openjp2, opj_image_destroy)
LAZY_FUNCTION(openjp2, opj_read_header)
LAZY_FUNCTION(openjp2, opj_set_default_decoder_parameters)
LAZY_FUNCTION(openjp2, opj_setup_decoder)
LAZY_FUNCTION(openjp2, opj_stream_create)
LAZY_FUNCTION(openjp2, opj_stream_destroy)
LAZY_FUNCTION(openjp2, opj_stream_set_read_function)
LAZY_FUNCTION(openjp2, opj_stream_set_seek_function)
LAZY_FUNCTION(openjp2, opj_stream_set_skip_function)
LAZY_FUNCTION(openjp2, opj_stream_set_user_data)
LAZY_FUNCTION(openjp2, opj_stream_set_user_data_length)
LAZY_FUNCTION(openjp2, opj_version)
