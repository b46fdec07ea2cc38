// The files of the gallery's page (folder Page), embedded in the program, so that it needs no other files.

#ifndef GALLERY_PAGE_H
#define GALLERY_PAGE_H

#include <stddef.h>

/// A file of the page: a text, up to its first zero byte.
struct gallery_page_file {
  const char *_Nonnull name;
  const unsigned char *_Nonnull text;
};

size_t gallery_page_file_count(void);

/// The file of an index below the count.
struct gallery_page_file gallery_page_file_at(size_t index);

#endif
