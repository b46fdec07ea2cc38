// ISA-L's inflate and deflate, two and more times as fast as zlib's, and its CRC.
#ifndef THUMBNAILER_CISAL_H
#define THUMBNAILER_CISAL_H

#include <isa-l.h>
#include <stdlib.h>
#include <string.h>

// The state is passed as `void *`, because Swift would import its tables as tuples of thousands of elements.

// The bytes that an inflater takes.
static inline size_t cisal_inflater_size(void) { return sizeof(struct inflate_state); }

// An inflater of raw deflate data, to be freed with free(). NULL if there is no memory.
static inline void *cisal_inflater_new(void) {
  // Cleared, because after damage ISA-L may count bytes that it has not written.
  struct inflate_state *state = calloc(1, sizeof *state);
  if (state) {
    isal_inflate_init(state);
    state->crc_flag = ISAL_DEFLATE;
  }
  return state;
}

// Inflates from `in` to `out` until one of them is used up, and stores the number of bytes left in each. Returns 0, 1
// at the end of the data, or a negative number for damage; cisal_take_rest() has the remaining bytes before the damage.
static inline int cisal_inflate(
  void *inflater, const void *in, uint32_t *in_left, void *out, uint32_t *out_left) {
  struct inflate_state *state = inflater;
  // ISA-L only reads from it.
  state->next_in = (uint8_t *)in;
  state->avail_in = *in_left;
  state->next_out = out;
  state->avail_out = *out_left;
  int result = isal_inflate(state);
  int has_ended = state->block_state == ISAL_BLOCK_FINISH;
  // At the end whole bytes may remain in its bit buffer. They belong to the following data.
  *in_left = state->avail_in + (has_ended ? state->read_in_length / 8 : 0);
  *out_left = state->avail_out;
  return result < 0 ? result : result > 0 ? -100 : has_ended;
}

// The bytes that have been inflated but not yet written.
static inline size_t cisal_rest(const void *inflater) {
  const struct inflate_state *state = inflater;
  return state->tmp_out_valid - state->tmp_out_processed;
}

// Writes `count` of these bytes.
static inline void cisal_take_rest(void *inflater, void *out, size_t count) {
  struct inflate_state *state = inflater;
  memcpy(out, state->tmp_out_buffer + state->tmp_out_processed, count);
  state->tmp_out_processed += count;
}

// Inflates a whole gzip file to `out`, at most `room` bytes. Returns the number of bytes written, 0 for damage.
static inline size_t cisal_gunzip(const void *in, uint32_t length, void *out, uint32_t room) {
  struct inflate_state *state = cisal_inflater_new();
  if (!state) return 0;
  state->crc_flag = ISAL_GZIP;
  uint32_t left = room;
  int has_ended = cisal_inflate(state, in, &length, out, &left) == 1;
  free(state);
  return has_ended ? room - left : 0;
}

// Deflates `length` bytes to `out` as zlib data, at most `room` bytes. Returns the number of bytes written; 0 if there
// is no memory or no room.
static inline size_t cisal_deflate(const void *in, uint32_t length, void *out, uint32_t room) {
  struct isal_zstream *stream = malloc(sizeof *stream);
  void *level = malloc(ISAL_DEF_LVL3_DEFAULT);
  size_t written = 0;
  if (stream && level) {
    isal_deflate_init(stream);
    stream->level = 3;
    stream->level_buf = level;
    stream->level_buf_size = ISAL_DEF_LVL3_DEFAULT;
    stream->gzip_flag = IGZIP_ZLIB;
    stream->end_of_stream = 1;
    // ISA-L only reads from it.
    stream->next_in = (uint8_t *)in;
    stream->avail_in = length;
    stream->next_out = out;
    stream->avail_out = room;
    int result = isal_deflate(stream);
    if (result == COMP_OK && stream->internal_state.state == ZSTATE_END) written = room - stream->avail_out;
  }
  free(level);
  free(stream);
  return written;
}

#endif
