// The module CLazyLibraries: loads libvips, libcurl and the decoders of TIFF, HEVC and AV1 when they are first needed, not when the program starts.
//
// They bring ninety other libraries, and loading them takes longer than most commands run: a cache hit needs none of
// them. A program that links this module calls their functions as usual. The call reaches a stub of the same name,
// which loads the library at its first use and is one indirect jump afterwards.
#ifndef THUMBNAILER_CLAZYLIBRARIES_H
#define THUMBNAILER_CLAZYLIBRARIES_H

// Loads libvips, from any thread. Returns NULL, or the reason why it cannot be loaded. A function that is called
// without this loads it, too, but ends the process with status 127 if that fails.
const char *clazy_load_vips(void);
// The same for libcurl, libtiff, libde265 and dav1d.
const char *clazy_load_curl(void);
const char *clazy_load_tiff(void);
const char *clazy_load_de265(void);
const char *clazy_load_dav1d(void);

#endif
