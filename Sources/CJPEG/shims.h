// libjpeg reports errors by longjmp, which must not cross Swift's frames: each shim catches the errors of its calls.
// All return 0, or -1 with a message.
#ifndef THUMBNAILER_CJPEG_H
#define THUMBNAILER_CJPEG_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

// The side of a block at the chosen scale. The ABI of libjpeg 7 and later has one for each axis.
#if JPEG_LIB_VERSION >= 70
#define CJPEG_BLOCK_SIDE(component) ((component)->DCT_h_scaled_size)
#define CJPEG_LEAST_BLOCK_SIDE(info) ((info).min_DCT_h_scaled_size)
#else
#define CJPEG_BLOCK_SIDE(component) ((component)->DCT_scaled_size)
#define CJPEG_LEAST_BLOCK_SIDE(info) ((info).min_DCT_scaled_size)
#endif

#define CJPEG_TEXT(value) #value
#define CJPEG_VALUE(macro) CJPEG_TEXT(macro)
// The version of the headers, a macro: libjpeg-turbo does not report its own. Empty for another libjpeg.
static inline const char *cjpeg_version(void) {
#ifdef LIBJPEG_TURBO_VERSION
  return CJPEG_VALUE(LIBJPEG_TURBO_VERSION);
#else
  return "";
#endif
}

// Reads at most `length` bytes: 0 at the end, -1 for an error.
typedef long (*cjpeg_read)(void *user, void *buffer, size_t length);

typedef struct {
  struct jpeg_error_mgr manager;
  jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
} cjpeg_errors;

typedef struct {
  struct jpeg_decompress_struct info;
  cjpeg_errors errors;
  struct jpeg_source_mgr source;
  cjpeg_read read;
  void *user;
  // Whether the file ended before the picture, and whether reading failed.
  int ran_dry, failed_to_read;
  // Whether an early end is an error; else libjpeg fills in grey.
  int is_strict;
  JOCTET buffer[16384];
} cjpeg_reader;

// Whether the last error is that libjpeg does not read this kind of JPEG.
static inline int cjpeg_is_unsupported(const cjpeg_errors *errors) {
  int code = errors->manager.msg_code;
  return code == JERR_ARITH_NOTIMPL || code == JERR_BAD_PRECISION || code == JERR_CONVERSION_NOTIMPL
    || code == JERR_FRACT_SAMPLE_NOTIMPL || code == JERR_SOF_UNSUPPORTED;
}

// Whether the last error is a lack of memory.
static inline int cjpeg_lacks_memory(const cjpeg_errors *errors) {
  return errors->manager.msg_code == JERR_OUT_OF_MEMORY;
}

static inline void cjpeg_escape(j_common_ptr info) {
  cjpeg_errors *errors = (cjpeg_errors *)info->err;
  info->err->format_message(info, errors->message);
  longjmp(errors->escape, 1);
}

// Only warnings of damaged coded data are counted: the others are of bytes that nothing depends on.
static inline void cjpeg_count_warning(j_common_ptr info, int level) {
  int code = info->err->msg_code;
  info->err->num_warnings += level < 0 && (code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE
    || code == JWRN_ARITH_BAD_CODE || code == JWRN_MUST_RESYNC);
}

static inline void cjpeg_set_errors(cjpeg_errors *errors) {
  jpeg_std_error(&errors->manager);
  errors->manager.error_exit = cjpeg_escape;
  errors->manager.emit_message = cjpeg_count_warning;
  errors->message[0] = 0;
}

static inline void cjpeg_ignore(j_decompress_ptr info) { (void)info; }

static inline boolean cjpeg_fill(j_decompress_ptr info) {
  cjpeg_reader *reader = (cjpeg_reader *)info->client_data;
  long count = reader->read(reader->user, reader->buffer, sizeof reader->buffer);
  if (count <= 0) {
    if (count < 0) reader->failed_to_read = 1;
    reader->ran_dry = 1;
    if (reader->is_strict || count < 0) {
      strcpy(reader->errors.message, "the file ends early");
      longjmp(reader->errors.escape, 1);
    }
    reader->buffer[0] = 0xFF;
    reader->buffer[1] = JPEG_EOI;
    count = 2;
  }
  reader->source.next_input_byte = reader->buffer;
  reader->source.bytes_in_buffer = (size_t)count;
  return TRUE;
}

static inline void cjpeg_skip(j_decompress_ptr info, long count) {
  struct jpeg_source_mgr *source = info->src;
  while (count > (long)source->bytes_in_buffer) {
    count -= (long)source->bytes_in_buffer;
    source->bytes_in_buffer = 0;
    cjpeg_fill(info);
  }
  if (count > 0) {
    source->next_input_byte += count;
    source->bytes_in_buffer -= (size_t)count;
  }
}

// NULL without memory.
static inline cjpeg_reader *cjpeg_reader_new(cjpeg_read read, void *user, int is_strict) {
  cjpeg_reader *reader = (cjpeg_reader *)calloc(1, sizeof *reader);
  if (!reader) return NULL;
  cjpeg_set_errors(&reader->errors);
  reader->info.err = &reader->errors.manager;
  if (setjmp(reader->errors.escape)) {
    free(reader);
    return NULL;
  }
  jpeg_create_decompress(&reader->info);
  reader->read = read;
  reader->user = user;
  reader->is_strict = is_strict;
  reader->info.client_data = reader;
  reader->source.init_source = cjpeg_ignore;
  reader->source.fill_input_buffer = cjpeg_fill;
  reader->source.skip_input_data = cjpeg_skip;
  reader->source.resync_to_restart = jpeg_resync_to_restart;
  reader->source.term_source = cjpeg_ignore;
  reader->info.src = &reader->source;
  return reader;
}

static inline void cjpeg_reader_free(cjpeg_reader *reader) {
  jpeg_destroy_decompress(&reader->info);
  free(reader);
}

// Reads up to the first scan.
static inline int cjpeg_read_header(cjpeg_reader *reader) {
  if (setjmp(reader->errors.escape)) return -1;
  jpeg_read_header(&reader->info, TRUE);
  return 0;
}

// Begins decoding at `eighths`/8, to planes as they are stored or else to RGB or inks.
static inline int cjpeg_start(cjpeg_reader *reader, int eighths, int planes) {
  if (setjmp(reader->errors.escape)) return -1;
  reader->info.scale_num = (unsigned int)eighths;
  reader->info.scale_denom = 8;
  reader->info.raw_data_out = planes ? TRUE : FALSE;
  reader->info.out_color_space = planes ? reader->info.jpeg_color_space
    : reader->info.num_components == 4 ? JCS_CMYK : JCS_RGB;
  return jpeg_start_decompress(&reader->info) ? 0 : -1;
}

// The rows of a component that one call of cjpeg_read_planes returns.
static inline int cjpeg_rows(const cjpeg_reader *reader, int component) {
  const jpeg_component_info *info = &reader->info.comp_info[component];
  return info->v_samp_factor * CJPEG_BLOCK_SIDE(info);
}
// The samples in each of those rows, with padding.
static inline int cjpeg_row_length(const cjpeg_reader *reader, int component) {
  const jpeg_component_info *info = &reader->info.comp_info[component];
  int blocks = (int)info->width_in_blocks + info->h_samp_factor;
  return blocks * CJPEG_BLOCK_SIDE(info);
}
static inline int cjpeg_samples_across(const cjpeg_reader *reader, int component) {
  return (int)reader->info.comp_info[component].downsampled_width;
}
static inline int cjpeg_samples_down(const cjpeg_reader *reader, int component) {
  return (int)reader->info.comp_info[component].downsampled_height;
}
// The part of a component's samples that the image covers, along one axis.
static inline double cjpeg_extent_across(const cjpeg_reader *reader, int component) {
  const jpeg_component_info *info = &reader->info.comp_info[component];
  return (double)reader->info.image_width * info->h_samp_factor * CJPEG_BLOCK_SIDE(info)
    / (8.0 * reader->info.max_h_samp_factor);
}
static inline double cjpeg_extent_down(const cjpeg_reader *reader, int component) {
  const jpeg_component_info *info = &reader->info.comp_info[component];
  return (double)reader->info.image_height * info->v_samp_factor * CJPEG_BLOCK_SIDE(info)
    / (8.0 * reader->info.max_v_samp_factor);
}

// Whether a component is decoded as it is stored, with a sample for two pixels along one axis.
static inline int cjpeg_halves_across(const cjpeg_reader *reader, int component) {
  const jpeg_component_info *info = &reader->info.comp_info[component];
  return CJPEG_BLOCK_SIDE(info) == 8 && reader->info.max_h_samp_factor == 2 * info->h_samp_factor;
}
static inline int cjpeg_halves_down(const cjpeg_reader *reader, int component) {
  const jpeg_component_info *info = &reader->info.comp_info[component];
  return CJPEG_BLOCK_SIDE(info) == 8 && reader->info.max_v_samp_factor == 2 * info->v_samp_factor;
}

// Decodes the next rows of all components into buffers of cjpeg_rows × cjpeg_row_length samples. 1 if there are no
// more. A component has at most 32 rows: four blocks of eight.
static inline int cjpeg_read_planes(cjpeg_reader *reader, unsigned char *_Nonnull const *_Nullable buffers) {
  JSAMPROW rows[3][32];
  JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
  if (reader->info.output_scanline >= reader->info.output_height) return 1;
  for (int component = 0; component < reader->info.num_components && component < 3; component++) {
    int count = cjpeg_rows(reader, component), length = cjpeg_row_length(reader, component);
    for (int row = 0; row < count && row < 32; row++) rows[component][row] = buffers[component] + (size_t)row * length;
  }
  if (setjmp(reader->errors.escape)) return -1;
  jpeg_read_raw_data(&reader->info, planes,
    (JDIMENSION)(reader->info.max_v_samp_factor * CJPEG_LEAST_BLOCK_SIDE(reader->info)));
  return 0;
}

// Decodes up to `count` (at most 16) rows of RGB or inks; the number of rows, 0 at the end.
static inline int cjpeg_read_rows(cjpeg_reader *reader, unsigned char *buffer, size_t stride, int count) {
  JSAMPROW rows[16];
  if (reader->info.output_scanline >= reader->info.output_height) return 0;
  for (int row = 0; row < count && row < 16; row++) rows[row] = buffer + (size_t)row * stride;
  if (setjmp(reader->errors.escape)) return -1;
  // libjpeg always returns one scanline at a time.
  int done = 0;
  while (done < count && reader->info.output_scanline < reader->info.output_height)
    done += (int)jpeg_read_scanlines(&reader->info, rows + done, (JDIMENSION)(count - done));
  return done;
}

static inline long cjpeg_warnings(const cjpeg_reader *reader) { return reader->errors.manager.num_warnings; }

// --- Encoding --------------------------------------------------------------------------------------------------------

// The image and its encoding: gray, RGB or YCbCr, rows without padding. The profile and the EXIF segment may be NULL.
typedef struct {
  const unsigned char *pixels;
  int width, height, channels;
  int is_ycc;
  int quality;
  int halves_chroma;
  int optimises;
  const unsigned char *profile;
  unsigned int profile_length;
} cjpeg_picture;

// Encodes to memory from malloc, which the caller frees; `message` has room for JMSG_LENGTH_MAX. -2 without memory.
static inline int cjpeg_encode(const cjpeg_picture *picture, unsigned char **data, unsigned long *length, char *message) {
  struct jpeg_compress_struct info;
  cjpeg_errors errors;
  *data = NULL;
  *length = 0;
  cjpeg_set_errors(&errors);
  info.err = &errors.manager;
  if (setjmp(errors.escape)) {
    strcpy(message, errors.message);
    jpeg_destroy_compress(&info);
    free(*data);
    *data = NULL;
    return cjpeg_lacks_memory(&errors) ? -2 : -1;
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, data, length);
  info.image_width = (JDIMENSION)picture->width;
  info.image_height = (JDIMENSION)picture->height;
  info.input_components = picture->channels;
  info.in_color_space = picture->channels == 1 ? JCS_GRAYSCALE : picture->is_ycc ? JCS_YCbCr : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, picture->quality, TRUE);
  info.optimize_coding = picture->optimises ? TRUE : FALSE;
  if (picture->channels == 3) {
    info.comp_info[0].h_samp_factor = picture->halves_chroma ? 2 : 1;
    info.comp_info[0].v_samp_factor = picture->halves_chroma ? 2 : 1;
  }
  jpeg_start_compress(&info, TRUE);
  if (picture->profile) jpeg_write_icc_profile(&info, picture->profile, picture->profile_length);
  size_t stride = (size_t)picture->width * picture->channels;
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = (JSAMPROW)(picture->pixels + info.next_scanline * stride);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  return 0;
}

#endif
