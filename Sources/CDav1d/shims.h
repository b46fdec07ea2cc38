#ifndef THUMBNAILER_CDAV1D_H
#define THUMBNAILER_CDAV1D_H

#include <dav1d/dav1d.h>
#include <errno.h>
#include <stddef.h>

// The result of a call that needs more bytes, or has pictures that must be taken first.
static inline int cdav1d_again(void) { return DAV1D_ERR(EAGAIN); }

// The result of a call that lacks memory.
static inline int cdav1d_no_memory(void) { return DAV1D_ERR(ENOMEM); }

// Makes a decoder that starts no threads, prints nothing, and refuses frames of more pixels. NULL: it cannot be made.
static inline Dav1dContext *cdav1d_open(unsigned most_pixels, int skips_filters) {
  Dav1dSettings settings;
  dav1d_default_settings(&settings);
  settings.n_threads = 1;
  settings.max_frame_delay = 1;
  settings.all_layers = 0;
  settings.frame_size_limit = most_pixels;
  settings.logger.callback = NULL;
  if (skips_filters) settings.inloop_filters = DAV1D_INLOOPFILTER_NONE;
  Dav1dContext *decoder = NULL;
  return dav1d_open(&decoder, &settings) == 0 ? decoder : NULL;
}

#endif
