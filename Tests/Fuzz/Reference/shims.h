// libjpeg's own picture at 1/8, to hold the coefficient decoder's against. In C, since libjpeg reports errors by a long
// jump, which Swift code must not be crossed by.
#ifndef THUMBNAILER_FUZZ_REFERENCE_H
#define THUMBNAILER_FUZZ_REFERENCE_H

#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <jpeglib.h>

typedef struct {
  struct jpeg_error_mgr base;
  jmp_buf failed;
} reference_errors;

static void reference_fail(j_common_ptr info) { longjmp(((reference_errors *)info->err)->failed, 1); }
static void reference_message(j_common_ptr info) {}

typedef struct {
  int width, height, components;
  // How often libjpeg warned of damage.
  long warnings;
  // Whether every component has a sample for each pixel, so that no chroma is scaled.
  int is_unsampled;
} reference_picture;

// Decodes a file at 1/8 into rows without padding. Returns 0, or -1 where libjpeg refuses or `room` is too small.
static inline int reference_decode(
  const unsigned char *bytes, size_t length, unsigned char *out, size_t room, reference_picture *picture) {
  struct jpeg_decompress_struct info;
  reference_errors errors;
  info.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = reference_fail;
  errors.base.output_message = reference_message;
  jpeg_create_decompress(&info);
  if (setjmp(errors.failed)) {
    jpeg_destroy_decompress(&info);
    return -1;
  }
  jpeg_mem_src(&info, bytes, length);
  jpeg_read_header(&info, TRUE);
  info.scale_num = 1;
  info.scale_denom = 8;
  info.do_fancy_upsampling = FALSE;
  picture->is_unsampled = 1;
  for (int i = 0; i < info.num_components; i++)
    if (info.comp_info[i].h_samp_factor != info.max_h_samp_factor ||
        info.comp_info[i].v_samp_factor != info.max_v_samp_factor)
      picture->is_unsampled = 0;
  jpeg_start_decompress(&info);
  picture->width = info.output_width;
  picture->height = info.output_height;
  picture->components = info.output_components;
  size_t row = (size_t)info.output_width * info.output_components;
  if (row * info.output_height > room) longjmp(errors.failed, 1);
  while (info.output_scanline < info.output_height) {
    JSAMPROW line = out + row * info.output_scanline;
    jpeg_read_scanlines(&info, &line, 1);
  }
  picture->warnings = errors.base.num_warnings;
  jpeg_destroy_decompress(&info);
  return 0;
}

#endif
