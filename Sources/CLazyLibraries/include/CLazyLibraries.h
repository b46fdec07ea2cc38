// The module CLazyLibraries: loads libvips, libcurl and the decoders of TIFF, HEVC, AV1 and JPEG 2000 when they are first needed, not when the program starts.
//
// They bring ninety other libraries, and the dynamic loader takes longer over them than most commands run: a hit
// of the cache needs none of them. Whoever links this module calls their functions as ever. What is called is a stub of
// the same name, which loads the library at its first use and from then on is one indirect jump.
#ifndef THUMBNAILER_CLAZYLIBRARIES_H
#define THUMBNAILER_CLAZYLIBRARIES_H

// Loads libvips, from any thread. Returns NULL, or why it cannot be loaded. A function that is called without this loads
// it, too, but ends the process with status 127 where that fails.
const char *clazy_load_vips(void);
// The same for libcurl, libtiff, libde265, dav1d and OpenJPEG.
const char *clazy_load_curl(void);
const char *clazy_load_tiff(void);
const char *clazy_load_de265(void);
const char *clazy_load_dav1d(void);
const char *clazy_load_openjp2(void);

#endif
