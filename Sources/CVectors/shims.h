// Loops over samples for x86-64 processors with AVX2, because Swift compiles a module for one processor. The results are
// the same as those of the loops in Swift.
#ifndef THUMBNAILER_CVECTORS_H
#define THUMBNAILER_CVECTORS_H

#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define CVECTORS_AVX2 __attribute__((target("avx2")))
#define CVECTORS_INLINE static inline __attribute__((always_inline, target("avx2")))

static inline int cvectors_has_avx2(void) { return __builtin_cpu_supports("avx2") ? 1 : 0; }

CVECTORS_INLINE __m256i cvectors_load(const void *from) { return _mm256_loadu_si256((const __m256i *)from); }

// Bits `shift` to `shift` + 15 of 16 sums, in the order in which `unpacklo` and `unpackhi` have left them.
CVECTORS_INLINE __m256i cvectors_narrow(__m256i low, __m256i high, int shift) {
  low = _mm256_srai_epi32(_mm256_slli_epi32(low, 16 - shift), 16);
  high = _mm256_srai_epi32(_mm256_slli_epi32(high, 16 - shift), 16);
  return _mm256_packs_epi32(low, high);
}

// 16 samples as 16-bit numbers.
CVECTORS_INLINE __m256i cvectors_samples(const uint8_t *from, int is_wide) {
  return is_wide ? cvectors_load(from) : _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)from));
}

// Adds 16 weighted samples of two rows.
CVECTORS_INLINE void cvectors_add(
  __m256i *low, __m256i *high, const uint8_t *upper, const uint8_t *lower, __m256i weights, int is_wide) {
  __m256i u = cvectors_samples(upper, is_wide), l = cvectors_samples(lower, is_wide);
  *low = _mm256_add_epi32(*low, _mm256_madd_epi16(_mm256_unpacklo_epi16(u, l), weights));
  *high = _mm256_add_epi32(*high, _mm256_madd_epi16(_mm256_unpackhi_epi16(u, l), weights));
}

// Combines `taps` rows to one of `count` samples, at least 16, from the sample `left` on.
CVECTORS_INLINE void cvectors_combine(
  const void *const *rows, long taps, const int16_t *weights, long left, long count, int16_t *to, int is_wide) {
  const int shift = is_wide ? 14 : 8;
  const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
  for (long x = 0; x < count; x += 32) {
    // The last vectors overlap those before.
    const long first = x + 16 <= count ? x : count - 16;
    const long second = x + 32 <= count ? x + 16 : count - 16;
    const long a = (left + first) << is_wide, b = (left + second) << is_wide;
    __m256i sums[4] = {half, half, half, half};
    for (long tap = 0; tap < taps; tap += 2) {
      // The partner of the last of an odd number has the weight 0.
      const uint8_t *upper = rows[tap], *lower = rows[tap + 1 < taps ? tap + 1 : tap];
      const __m256i both = _mm256_broadcastd_epi32(_mm_loadu_si32(weights + tap));
      cvectors_add(&sums[0], &sums[1], upper + a, lower + a, both, is_wide);
      cvectors_add(&sums[2], &sums[3], upper + b, lower + b, both, is_wide);
    }
    _mm256_storeu_si256((__m256i *)(to + first), cvectors_narrow(sums[0], sums[1], shift));
    _mm256_storeu_si256((__m256i *)(to + second), cvectors_narrow(sums[2], sums[3], shift));
  }
}

CVECTORS_AVX2 static inline void cvectors_combine_bytes(
  const void *const *rows, long taps, const int16_t *weights, long left, long count, int16_t *to) {
  cvectors_combine(rows, taps, weights, left, count, to, 0);
}

CVECTORS_AVX2 static inline void cvectors_combine_words(
  const void *const *rows, long taps, const int16_t *weights, long left, long count, int16_t *to) {
  cvectors_combine(rows, taps, weights, left, count, to, 1);
}

// The products of samples and weights, a multiple of 8, in eight sums.
CVECTORS_INLINE __m256i cvectors_dot(const int16_t *samples, const int16_t *weights, long taps) {
  __m256i sum = _mm256_setzero_si256();
  long tap = 0;
  for (; tap + 16 <= taps; tap += 16)
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(cvectors_load(samples + tap), cvectors_load(weights + tap)));
  if (tap < taps) {
    const __m128i rest = _mm_madd_epi16(
      _mm_loadu_si128((const __m128i *)(samples + tap)), _mm_loadu_si128((const __m128i *)(weights + tap)));
    sum = _mm256_add_epi32(sum, _mm256_zextsi128_si256(rest));
  }
  return sum;
}

// The sums of four windows, in two halves.
CVECTORS_INLINE __m256i cvectors_four(const int16_t *row, const long *starts, const int16_t *weights, long taps) {
  const __m256i a = cvectors_dot(row + starts[0], weights, taps);
  const __m256i b = cvectors_dot(row + starts[1], weights + taps, taps);
  const __m256i c = cvectors_dot(row + starts[2], weights + 2 * taps, taps);
  const __m256i d = cvectors_dot(row + starts[3], weights + 3 * taps, taps);
  return _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
}

// Stores eight rounded sums: the even ones are in the low half, the odd ones in the high half.
CVECTORS_INLINE void cvectors_store_halves(__m256i sums, int16_t *to) {
  sums = _mm256_add_epi32(sums, _mm256_set1_epi32(1 << 13));
  const __m256i words = cvectors_narrow(sums, sums, 14);
  _mm_storeu_si128(
    (__m128i *)to, _mm_unpacklo_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}

CVECTORS_INLINE void cvectors_reduce(
  const int16_t *row, const long *starts, const int16_t *weights, long taps, long count, int16_t *to) {
  for (long next = 0; next < count; next += 8) {
    // The last vector overlaps the one before.
    const long x = next + 8 <= count ? next : count - 8;
    const __m256i left = cvectors_four(row, starts + x, weights + x * taps, taps);
    const __m256i right = cvectors_four(row, starts + x + 4, weights + (x + 4) * taps, taps);
    const __m256i sums = _mm256_add_epi32(
      _mm256_permute2x128_si256(left, right, 0x20), _mm256_permute2x128_si256(left, right, 0x31));
    // In order, the even ones first.
    cvectors_store_halves(_mm256_permutevar8x32_epi32(sums, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7)), to + x);
  }
}

// The products of two neighbouring windows of 8 samples and their weights.
CVECTORS_INLINE __m256i cvectors_two(const int16_t *row, const long *starts, const int16_t *weights) {
  const __m128i first = _mm_loadu_si128((const __m128i *)(row + starts[0]));
  const __m128i second = _mm_loadu_si128((const __m128i *)(row + starts[1]));
  return _mm256_madd_epi16(
    _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1), cvectors_load(weights));
}

CVECTORS_INLINE void cvectors_reduce_by_8(
  const int16_t *row, const long *starts, const int16_t *weights, long count, int16_t *to) {
  for (long next = 0; next < count; next += 8) {
    const long x = next + 8 <= count ? next : count - 8;
    const int16_t *factors = weights + 8 * x;
    const __m256i a = cvectors_two(row, starts + x, factors), b = cvectors_two(row, starts + x + 2, factors + 16);
    const __m256i c = cvectors_two(row, starts + x + 4, factors + 32);
    const __m256i d = cvectors_two(row, starts + x + 6, factors + 48);
    cvectors_store_halves(_mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d)), to + x);
  }
}

// Reduces a row to `count` samples, at least 8, of windows of `taps` samples, a multiple of 8.
CVECTORS_AVX2 static inline void cvectors_reduce_plane(
  const int16_t *row, const long *starts, const int16_t *weights, long taps, long count, int16_t *to) {
  // The usual numbers, so that their loops are unrolled.
  switch (taps) {
  case 8: cvectors_reduce_by_8(row, starts, weights, count, to); break;
  case 16: cvectors_reduce(row, starts, weights, 16, count, to); break;
  case 24: cvectors_reduce(row, starts, weights, 24, count, to); break;
  default: cvectors_reduce(row, starts, weights, taps, count, to);
  }
}

// Reduces pairs of pixels, r r g g b b a a, to `count` pixels of windows of `taps` pixels, a multiple of 4. Writes up to
// three samples beyond the row.
CVECTORS_AVX2 static inline void cvectors_reduce_pixels(
  const int16_t *pairs, const long *starts, const int16_t *weights, long taps, long count, long channels,
  int16_t *to) {
  const __m256i spread = _mm256_setr_epi8(
    0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7);
  for (long x = 0; x < count; x++, to += channels) {
    const int16_t *from = pairs + 4 * starts[x];
    __m256i sum = _mm256_setzero_si256();
    for (long tap = 0; tap < taps; tap += 4, from += 16, weights += 4) {
      const __m256i four = _mm256_broadcastsi128_si256(_mm_loadl_epi64((const __m128i *)weights));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(cvectors_load(from), _mm256_shuffle_epi8(four, spread)));
    }
    __m128i both = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    both = _mm_srai_epi32(_mm_slli_epi32(_mm_add_epi32(both, _mm_set1_epi32(1 << 13)), 2), 16);
    _mm_storel_epi64((__m128i *)to, _mm_packs_epi32(both, both));
  }
}

// Rounds and clamps 16 samples with 6 fraction bits.
CVECTORS_INLINE __m128i cvectors_bytes(const int16_t *from) {
  const __m128i half = _mm_set1_epi16(32);
  const __m128i left = _mm_add_epi16(_mm_loadu_si128((const __m128i *)from), half);
  const __m128i right = _mm_add_epi16(_mm_loadu_si128((const __m128i *)(from + 8)), half);
  return _mm_packus_epi16(_mm_srai_epi16(left, 6), _mm_srai_epi16(right, 6));
}

// The bytes of three rows' samples at the places, -1 for none.
CVECTORS_INLINE __m128i cvectors_mix(__m128i a, __m128i b, __m128i c, const int8_t (*places)[16]) {
  const __m128i *masks = (const __m128i *)(const void *)places;
  const __m128i two = _mm_or_si128(
    _mm_shuffle_epi8(a, _mm_loadu_si128(masks)), _mm_shuffle_epi8(b, _mm_loadu_si128(masks + 1)));
  return _mm_or_si128(two, _mm_shuffle_epi8(c, _mm_loadu_si128(masks + 2)));
}

// Rounds, clamps and interleaves three rows of `count` samples, at least 16.
CVECTORS_AVX2 static inline void cvectors_interleave(
  const int16_t *a, const int16_t *b, const int16_t *c, long count, uint8_t *to) {
  // For each 16 bytes of 16 pixels: which sample of each row becomes which byte.
  static const int8_t places[3][3][16] = {
    {{0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1, 5},
     {-1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1},
     {-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1}},
    {{-1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10, -1},
     {5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10},
     {-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1}},
    {{-1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1, -1},
     {-1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1},
     {10, -1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15}},
  };
  for (long next = 0; next < count; next += 16) {
    const long x = next + 16 <= count ? next : count - 16;
    const __m128i first = cvectors_bytes(a + x), second = cvectors_bytes(b + x), third = cvectors_bytes(c + x);
    __m128i *target = (__m128i *)(void *)(to + 3 * x);
    _mm_storeu_si128(target, cvectors_mix(first, second, third, places[0]));
    _mm_storeu_si128(target + 1, cvectors_mix(first, second, third, places[1]));
    _mm_storeu_si128(target + 2, cvectors_mix(first, second, third, places[2]));
  }
}

// Spreads pixels of three bytes to words with any highest byte, as long as 28 bytes can be read. Returns the number of
// pixels done.
CVECTORS_AVX2 static inline long cvectors_expand(const uint8_t *pixels, long count, uint32_t *words) {
  const __m256i spread = _mm256_broadcastsi128_si256(
    _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
  long x = 0;
  for (; x + 10 <= count; x += 8) {
    const __m128i left = _mm_loadu_si128((const __m128i *)(pixels + 3 * x));
    const __m128i right = _mm_loadu_si128((const __m128i *)(pixels + 3 * x + 12));
    const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(left), right, 1);
    _mm256_storeu_si256((__m256i *)(words + x), _mm256_shuffle_epi8(both, spread));
  }
  return x;
}

#endif

#endif
