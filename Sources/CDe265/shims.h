// libde265 allocates what a stream asks for: these shims give it a limit, and memory that holds nothing of the process.
#ifndef THUMBNAILER_CDE265_H
#define THUMBNAILER_CDE265_H

#include <libde265/de265.h>
#include <string.h>

// What a decoder may allocate: pictures of at most this size, and how many at a time.
struct cde265_limits {
  int width, height;
  int most_pictures, pictures;
};

static inline void cde265_clear_plane(struct de265_image *image, int plane, int rows) {
  int stride = 0;
  uint8_t *samples = (uint8_t *)de265_get_image_plane(image, plane, &stride);
  if (samples && stride > 0 && rows > 0) memset(samples, 0, (size_t)stride * (size_t)rows);
}

// Returns 0 where there is no memory, or more is asked for than is allowed.
static inline int cde265_get_picture(
  de265_decoder_context *decoder, struct de265_image_spec *spec, struct de265_image *image, void *user) {
  struct cde265_limits *limits = (struct cde265_limits *)user;
  if (spec->width > limits->width || spec->height > limits->height || limits->pictures >= limits->most_pictures) return 0;
  if (!de265_get_default_image_allocation_functions()->get_buffer(decoder, spec, image, NULL)) return 0;
  limits->pictures++;
  int rows = spec->format == de265_image_format_YUV420P8 ? (spec->height + 1) / 2 : spec->height;
  cde265_clear_plane(image, 0, spec->height);
  if (spec->format == de265_image_format_mono8) return 1;
  cde265_clear_plane(image, 1, rows);
  cde265_clear_plane(image, 2, rows);
  return 1;
}

static inline void cde265_release_picture(de265_decoder_context *decoder, struct de265_image *image, void *user) {
  ((struct cde265_limits *)user)->pictures--;
  de265_get_default_image_allocation_functions()->release_buffer(decoder, image, NULL);
}

// Makes a decoder that starts no threads and delivers no faulty pictures. `limits` must outlive it. NULL: no memory.
static inline de265_decoder_context *cde265_open(struct cde265_limits *limits, int skips_filters) {
  de265_decoder_context *decoder = de265_new_decoder();
  if (!decoder) return NULL;
  static struct de265_image_allocation allocation = {cde265_get_picture, cde265_release_picture};
  de265_set_image_allocation_functions(decoder, &allocation, limits);
  de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_SUPPRESS_FAULTY_PICTURES, 1);
  de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_DISABLE_DEBLOCKING, skips_filters);
  de265_set_parameter_bool(decoder, DE265_DECODER_PARAM_DISABLE_SAO, skips_filters);
  return decoder;
}

#endif
