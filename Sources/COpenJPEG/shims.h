// OpenJPEG, which reads JPEG 2000. Its structures for parameters and indices are too large for Swift, and change too
// often.
#ifndef THUMBNAILER_COPENJPEG_H
#define THUMBNAILER_COPENJPEG_H

// The folder has the version in its name, and with pkg-config the program would be linked to the library.
#if __has_include(<openjpeg-2.5/openjpeg.h>)
#include <openjpeg-2.5/openjpeg.h>
#else
#include <openjpeg.h>
#endif
#include <stdbool.h>
#include <stddef.h>

// How a codestream is divided.
struct copj_layout {
  // Tiles across and down.
  unsigned across, down;
  // The first tile's place on the reference grid, and the size of all tiles.
  unsigned left, top, width, height;
  // How often all components can be halved.
  unsigned halvings;
};

// A decoder of a bare codestream that halves the image `halvings` times, and prints nothing. Unless it is strict, it
// decodes the existing part of a truncated tile. NULL: there is no memory.
static inline opj_codec_t *copj_open(unsigned halvings, bool strict) {
  opj_codec_t *codec = opj_create_decompress(OPJ_CODEC_J2K);
  if (!codec) return NULL;
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  parameters.cp_reduce = halvings;
  if (opj_setup_decoder(codec, &parameters) && opj_decoder_set_strict_mode(codec, strict)) return codec;
  opj_destroy_codec(codec);
  return NULL;
}

// A stream of `length` bytes. The functions get `user` as their last argument.
static inline opj_stream_t *copj_stream(
  void *user, size_t length, opj_stream_read_fn read, opj_stream_skip_fn skip, opj_stream_seek_fn seek) {
  opj_stream_t *stream = opj_stream_create(65536, OPJ_TRUE);
  if (!stream) return NULL;
  opj_stream_set_read_function(stream, read);
  opj_stream_set_skip_function(stream, skip);
  opj_stream_set_seek_function(stream, seek);
  opj_stream_set_user_data(stream, user, NULL);
  opj_stream_set_user_data_length(stream, length);
  return stream;
}

// After the header has been read.
static inline struct copj_layout copj_layout(opj_codec_t *codec, unsigned components) {
  struct copj_layout layout = {0, 0, 0, 0, 0, 0, 0};
  opj_codestream_info_v2_t *info = opj_get_cstr_info(codec);
  if (!info) return layout;
  layout.across = info->tw;
  layout.down = info->th;
  layout.left = info->tx0;
  layout.top = info->ty0;
  layout.width = info->tdx;
  layout.height = info->tdy;
  layout.halvings = 32;
  for (unsigned i = 0; i < components && info->m_default_tile_info.tccp_info; i++) {
    unsigned levels = info->m_default_tile_info.tccp_info[i].numresolutions;
    if (levels - 1 < layout.halvings) layout.halvings = levels - 1;
  }
  opj_destroy_cstr_info(&info);
  return layout;
}

#endif
