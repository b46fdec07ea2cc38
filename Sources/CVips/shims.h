// Swift cannot call C's variadic functions, and libvips' operations are all variadic: each shim fixes the arguments of
// one operation. Shims for other reasons state them.
#ifndef THUMBNAILER_CVIPS_H
#define THUMBNAILER_CVIPS_H

#include <stdlib.h>
#include <vips/vips.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

// VIPS_INIT is a macro: it also compares the library's layout with that of these headers.
static inline int cvips_init(const char *name) { return VIPS_INIT(name); }

// libvips' umbrella header does not include the header of vectors.
void vips_vector_set_enabled(gboolean enabled);

// malloc.h is not among the headers that Swift imports on Linux. Only glibc has the option.
static inline void cvips_set_mmap_threshold(int bytes) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, bytes);
#endif
}

// Gives the pages back that lie free between blocks in use. Only glibc keeps such.
static inline void cvips_return_free_memory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

typedef void (*cvips_log)(const char *message);

static inline void cvips_forward_log(const char *domain, GLogLevelFlags level, const char *message, void *handler) {
  ((cvips_log)handler)(message);
}

// Sends libvips' warnings to `handler` instead of stderr. Swift does not import GLib's level flags as one set.
static inline void cvips_set_log_handler(cvips_log handler) {
  g_log_set_handler("VIPS", (GLogLevelFlags)(G_LOG_LEVEL_MASK | G_LOG_FLAG_RECURSION), cvips_forward_log,
    (void *)handler);
}

// --- Sources -------------------------------------------------------------------------------------------------------

typedef gint64 (*cvips_read)(VipsSourceCustom *source, void *buffer, gint64 length, void *user);
typedef gint64 (*cvips_seek)(VipsSourceCustom *source, gint64 offset, int whence, void *user);
typedef void (*cvips_release)(void *user, GClosure *closure);

// A source that calls back for its bytes. G_CALLBACK and VIPS_SOURCE are macros. `release` is called with `user` when
// libvips has released the source, which may be long after the caller has.
static inline VipsSource *cvips_source_new(cvips_read read, cvips_seek seek, void *user, cvips_release release) {
  VipsSourceCustom *source = vips_source_custom_new();
  g_signal_connect_data(source, "read", G_CALLBACK(read), user, release, (GConnectFlags)0);
  g_signal_connect_data(source, "seek", G_CALLBACK(seek), user, NULL, (GConnectFlags)0);
  return VIPS_SOURCE(source);
}

// --- Loaders ---------------------------------------------------------------------------------------------------------

// Opens an image with the loader of this name and one integer option, or none if `option` is NULL.
static inline int cvips_load(
  const char *loader, VipsSource *source, VipsImage **out, VipsFailOn fail_on, const char *option, int value) {
  return vips_call(
    loader, source, out, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, option, value, NULL);
}
// The same, read at a scale.
static inline int cvips_load_scaled(
  const char *loader, VipsSource *source, VipsImage **out, VipsFailOn fail_on, double scale) {
  return vips_call(loader, source, out, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, "scale", scale, NULL);
}
static inline int cvips_load_openexr(const char *path, VipsImage **out, VipsFailOn fail_on) {
  return vips_openexrload(path, out, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, NULL);
}
// ImageMagick. The bytes must outlive the image.
static inline int cvips_load_magick(const void *bytes, size_t length, VipsImage **out, VipsFailOn fail_on) {
  return vips_magickload_buffer((void *)bytes, length, out, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", fail_on, NULL);
}

// --- Memory ------------------------------------------------------------------------------------------------------------

// Samples as an image that reads them in place. The colour space is set in the new image itself, which saves a copy
// operation.
static inline VipsImage *cvips_image_of_memory(const void *pixels, size_t length, int width, int height, int bands,
  VipsBandFormat format, VipsInterpretation space) {
  VipsImage *image = vips_image_new_from_memory(pixels, length, width, height, bands, format);
  if (image) image->Type = space;
  return image;
}

// The same for memory from malloc, which is freed with the image.
static inline VipsImage *cvips_image_owning_memory(void *pixels, size_t length, int width, int height, int bands,
  VipsBandFormat format, VipsInterpretation space) {
  VipsImage *image = cvips_image_of_memory(pixels, length, width, height, bands, format, space);
  if (image)
    g_object_set_data_full(G_OBJECT(image), "thumbnailer-pixels", pixels, free);
  else
    free(pixels);
  return image;
}

// The first sample of a row of a region that has been prepared. A macro.
static inline const void *cvips_region_row(VipsRegion *region, int y) {
  return VIPS_REGION_ADDR(region, region->valid.left, y);
}
static inline size_t cvips_region_stride(VipsRegion *region) { return VIPS_REGION_LSKIP(region); }

// --- Operations ------------------------------------------------------------------------------------------------------

// addalpha is a function of libvips, but no operation.
static inline int cvips_addalpha(VipsImage *in, VipsImage **out) { return vips_addalpha(in, out, NULL); }
// An operation without arguments: copy, rad2float.
static inline int cvips_apply(const char *operation, VipsImage *in, VipsImage **out) {
  return vips_call(operation, in, out, NULL);
}
static inline int cvips_resize(VipsImage *in, VipsImage **out, double hscale, double vscale) {
  return vips_resize(in, out, hscale, "vscale", vscale, NULL);
}
static inline int cvips_extract_area(VipsImage *in, VipsImage **out, int left, int top, int width, int height) {
  return vips_extract_area(in, out, left, top, width, height, NULL);
}
static inline int cvips_extract_bands(VipsImage *in, VipsImage **out, int first, int count) {
  return vips_extract_band(in, out, first, "n", count, NULL);
}
static inline int cvips_smartcrop(VipsImage *in, VipsImage **out, int width, int height, VipsInteresting interesting) {
  return vips_smartcrop(in, out, width, height, "interesting", interesting, NULL);
}
// premultiply or unpremultiply; `opaque` is the alpha of an opaque pixel.
static inline int cvips_scale_by_alpha(const char *operation, VipsImage *in, VipsImage **out, double opaque) {
  return vips_call(operation, in, out, "max_alpha", opaque, NULL);
}
static inline int cvips_round(VipsImage *in, VipsImage **out) {
  return vips_round(in, out, VIPS_OPERATION_ROUND_RINT, NULL);
}
static inline int cvips_cast(VipsImage *in, VipsImage **out, VipsBandFormat format) {
  return vips_cast(in, out, format, NULL);
}
static inline int cvips_colourspace(VipsImage *in, VipsImage **out, VipsInterpretation space) {
  return vips_colourspace(in, out, space, NULL);
}
// The same pixels under another name for their colour space.
static inline int cvips_reinterpret(VipsImage *in, VipsImage **out, VipsInterpretation space) {
  return vips_copy(in, out, "interpretation", space, NULL);
}
// To sRGB, 8 bit, from the embedded profile if that fits, else from `fallback`.
static inline int cvips_icc_to_srgb(VipsImage *in, VipsImage **out, int fits, const char *fallback, VipsIntent intent) {
  return vips_icc_transform(in, out, "srgb", "embedded", fits, "input_profile", fallback, "intent", intent, "depth", 8,
    NULL);
}
// `colour` has three values or, for gray, one.
static inline int cvips_flatten(VipsImage *in, VipsImage **out, const double *colour, int count) {
  VipsArrayDouble *background = vips_array_double_new(colour, count);
  int result = vips_flatten(in, out, "background", background, NULL);
  vips_area_unref(VIPS_AREA(background));
  return result;
}

// Sets the height of an image's frames, the time of each in milliseconds, and the number of repetitions.
static inline void cvips_set_animation(VipsImage *image, int height, const int *delays, int count, int loops) {
  vips_image_set_int(image, VIPS_META_PAGE_HEIGHT, height);
  if (count > 0) vips_image_set_array_int(image, "delay", delays, count);
  vips_image_set_int(image, "loop", loops);
}

// Zero in all bands, so transparent, outside the image.
static inline int cvips_embed_clear(VipsImage *in, VipsImage **out, int x, int y, int width, int height) {
  return vips_embed(in, out, x, y, width, height, NULL);
}

// --- Savers ------------------------------------------------------------------------------------------------------------

static inline int cvips_save_jpeg(
  VipsImage *in, void **data, size_t *length, int quality, int optimize, int strip) {
  return vips_jpegsave_buffer(in, data, length, "Q", quality, "optimize_coding", optimize, "strip", strip, NULL);
}
static inline int cvips_save_png(VipsImage *in, void **data, size_t *length, int compression, int strip) {
  return vips_pngsave_buffer(
    in, data, length, "filter", VIPS_FOREIGN_PNG_FILTER_ALL, "compression", compression, "strip", strip, NULL);
}
static inline int cvips_save_webp(VipsImage *in, void **data, size_t *length, int quality, int effort, int strip) {
  return vips_webpsave_buffer(in, data, length, "Q", quality, "effort", effort, "strip", strip, NULL);
}
static inline int cvips_save_avif(VipsImage *in, void **data, size_t *length, int quality, int effort, int strip) {
  return vips_heifsave_buffer(in, data, length, "Q", quality, "effort", effort, "compression",
    VIPS_FOREIGN_HEIF_COMPRESSION_AV1, "bitdepth", 8, "strip", strip, NULL);
}
static inline int cvips_save_jxl(VipsImage *in, void **data, size_t *length, int quality, int effort, int strip) {
  return vips_jxlsave_buffer(in, data, length, "Q", quality, "effort", effort, "strip", strip, NULL);
}
static inline int cvips_save_gif(VipsImage *in, void **data, size_t *length, int effort, int strip) {
  return vips_gifsave_buffer(in, data, length, "effort", effort, "strip", strip, NULL);
}
static inline int cvips_save_tiff(VipsImage *in, void **data, size_t *length, int strip) {
  return vips_tiffsave_buffer(in, data, length, "compression", VIPS_FOREIGN_TIFF_COMPRESSION_DEFLATE, "predictor",
    VIPS_FOREIGN_TIFF_PREDICTOR_HORIZONTAL, "strip", strip, NULL);
}

#endif
