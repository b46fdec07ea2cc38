// Swift cannot call C's variadic functions: each shim reads one tag. Shims for other reasons state them.
#ifndef THUMBNAILER_CTIFF_H
#define THUMBNAILER_CTIFF_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>

// Prints nothing, and keeps libtiff from calling the handlers that libvips has set for the whole process.
static inline int ctiff_silence(TIFF *tiff, void *user, const char *module, const char *format, va_list values) {
  return 1;
}

// Counts libjpeg's warnings of damaged codes, of which libtiff says nothing else.
static inline int ctiff_count_damage(TIFF *tiff, void *user, const char *module, const char *format, va_list values) {
  char text[256];
  vsnprintf(text, sizeof text, format, values);
  *(int32_t *)user += strstr(text, "premature end of data") || strstr(text, "bad Huffman") || strstr(text, "instead of RST");
  return 1;
}

static inline int ctiff_map_nothing(thandle_t body, void **start, toff_t *length) { return 0; }
static inline void ctiff_unmap_nothing(thandle_t body, void *start, toff_t length) {}
static inline tmsize_t ctiff_write_nothing(thandle_t body, void *bytes, tmsize_t length) { return -1; }
static inline int ctiff_close_nothing(thandle_t body) { return 0; }

// Opens a file for reading, without mapping it, and with large uncompressed strips in pieces. `most` is the most bytes
// of one allocation, and `damages` is raised for each place of damage. The options are those of libtiff 4.5; older versions have other limits of their own.
static inline TIFF *ctiff_open(
  thandle_t body, int32_t *damages, tmsize_t (*read)(thandle_t, void *, tmsize_t), toff_t (*seek)(thandle_t, toff_t, int),
  toff_t (*length)(thandle_t), tmsize_t most) {
#if TIFFLIB_VERSION >= 20221213
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  if (!options) return NULL;
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, most);
  TIFFOpenOptionsSetErrorHandlerExtR(options, ctiff_silence, NULL);
  TIFFOpenOptionsSetWarningHandlerExtR(options, ctiff_count_damage, damages);
  TIFF *tiff = TIFFClientOpenExt("image", "rmC", body, read, ctiff_write_nothing, seek, ctiff_close_nothing, length,
    ctiff_map_nothing, ctiff_unmap_nothing, options);
  TIFFOpenOptionsFree(options);
  return tiff;
#else
  return TIFFClientOpen("image", "rmC", body, read, ctiff_write_nothing, seek, ctiff_close_nothing, length,
    ctiff_map_nothing, ctiff_unmap_nothing);
#endif
}

// The value of a tag with one number, or its default; -1 if there is neither.
static inline int ctiff_number16(TIFF *tiff, uint32_t tag) {
  uint16_t value = 0;
  return TIFFGetFieldDefaulted(tiff, tag, &value) ? value : -1;
}
static inline int64_t ctiff_number32(TIFF *tiff, uint32_t tag) {
  uint32_t value = 0;
  return TIFFGetFieldDefaulted(tiff, tag, &value) ? value : -1;
}

// The number of extra samples; `first` is the kind of the first.
static inline int ctiff_extra_samples(TIFF *tiff, int *first) {
  uint16_t count = 0, *kinds = NULL;
  if (!TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds)) return 0;
  *first = count > 0 && kinds ? kinds[0] : 0;
  return count;
}

// The palette: a value for each index, owned by libtiff. Returns 0 if there is none.
static inline int ctiff_palette(TIFF *tiff, uint16_t **red, uint16_t **green, uint16_t **blue) {
  return TIFFGetField(tiff, TIFFTAG_COLORMAP, red, green, blue);
}

// Reads rows as red, green, blue and alpha, as they are stored: 4 bytes a pixel. Returns 0 if that fails.
static inline int ctiff_read_colours(TIFF *tiff, uint32_t row, uint32_t width, uint32_t rows, uint32_t *pixels) {
  TIFFRGBAImage image;
  char message[1024];
  if (!TIFFRGBAImageBegin(&image, tiff, 1, message)) return 0;
  image.req_orientation = image.orientation;
  image.row_offset = (int)row;
  int done = TIFFRGBAImageGet(&image, pixels, width, rows);
  TIFFRGBAImageEnd(&image);
  return done;
}

// Has a JPEG's colours converted to RGB.
static inline int ctiff_convert_colours(TIFF *tiff) {
  return TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
}

// The weights of red, green and blue in luma, owned by libtiff. Returns 0 if there are none, and no default.
static inline int ctiff_luma_weights(TIFF *tiff, float **weights) {
  return TIFFGetFieldDefaulted(tiff, TIFFTAG_YCBCRCOEFFICIENTS, weights);
}

// The ICC profile, owned by libtiff. Returns 0 if there is none.
static inline int ctiff_profile(TIFF *tiff, uint32_t *length, void **bytes) {
  return TIFFGetField(tiff, TIFFTAG_ICCPROFILE, length, bytes);
}

#endif
