#ifndef THUMBNAILER_CDE265_H
#define THUMBNAILER_CDE265_H

#include <libde265/de265.h>
#include <stddef.h>

// Makes a decoder that starts no threads and delivers no faulty pictures. NULL: no memory.
static inline de265_decoder_context *cde265_open(int skips_filters) {
  de265_decoder_context *decoder = de265_new_decoder();
  if (!decoder) return NULL;
  de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_SUPPRESS_FAULTY_PICTURES, 1);
  de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_DISABLE_DEBLOCKING, skips_filters);
  de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_DISABLE_SAO, skips_filters);
  return decoder;
}

#endif
