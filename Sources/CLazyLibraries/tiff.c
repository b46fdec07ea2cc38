// The functions of libtiff that are called.
#include "stubs.h"
#include "include/CLazyLibraries.h"

LAZY_LIBRARY(tiff, "libtiff.so.6")

const char *clazy_load_tiff(void) { return lazy_load(&lazy_library_tiff); }

LAZY_FUNCTION(tiff, TIFFClientOpenExt)
LAZY_FUNCTION(tiff, TIFFClose)
LAZY_FUNCTION(tiff, TIFFComputeTile)
LAZY_FUNCTION(tiff, TIFFGetField)
LAZY_FUNCTION(tiff, TIFFGetFieldDefaulted)
LAZY_FUNCTION(tiff, TIFFGetVersion)
LAZY_FUNCTION(tiff, TIFFIsCODECConfigured)
LAZY_FUNCTION(tiff, TIFFIsTiled)
LAZY_FUNCTION(tiff, TIFFOpenOptionsAlloc)
LAZY_FUNCTION(tiff, TIFFOpenOptionsFree)
LAZY_FUNCTION(tiff, TIFFOpenOptionsSetErrorHandlerExtR)
LAZY_FUNCTION(tiff, TIFFOpenOptionsSetMaxSingleMemAlloc)
LAZY_FUNCTION(tiff, TIFFOpenOptionsSetWarningHandlerExtR)
LAZY_FUNCTION(tiff, TIFFRGBAImageBegin)
LAZY_FUNCTION(tiff, TIFFRGBAImageEnd)
LAZY_FUNCTION(tiff, TIFFRGBAImageGet)
LAZY_FUNCTION(tiff, TIFFReadEncodedStrip)
LAZY_FUNCTION(tiff, TIFFReadEncodedTile)
LAZY_FUNCTION(tiff, TIFFReadScanline)
LAZY_FUNCTION(tiff, TIFFScanlineSize)
LAZY_FUNCTION(tiff, TIFFSetField)
LAZY_FUNCTION(tiff, TIFFStripSize)
LAZY_FUNCTION(tiff, TIFFTileSize)
