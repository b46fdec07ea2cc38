// The stylesheet of pages that are written to files: the styles of the gallery's page, and their own.

#ifndef LOOK_H
#define LOOK_H

#include <stddef.h>

/// The stylesheet, in UTF-8.
struct look_stylesheet {
  const unsigned char *_Nonnull bytes;
  size_t length;
};

struct look_stylesheet look_of_sheets(void);

#endif
