#include "CGalleryPage.h"

// Of C23, which clang has in every mode.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const struct gallery_page_file files[] = {
  {"address.js", (const unsigned char[]){
#embed "Page/address.js" suffix(, 0)
  }}, {"albums.js", (const unsigned char[]){
#embed "Page/albums.js" suffix(, 0)
  }}, {"api.js", (const unsigned char[]){
#embed "Page/api.js" suffix(, 0)
  }}, {"cell.js", (const unsigned char[]){
#embed "Page/cell.js" suffix(, 0)
  }}, {"density.js", (const unsigned char[]){
#embed "Page/density.js" suffix(, 0)
  }}, {"gallery.css", (const unsigned char[]){
#embed "Page/gallery.css" suffix(, 0)
  }}, {"gallery.js", (const unsigned char[]){
#embed "Page/gallery.js" suffix(, 0)
  }}, {"grid-window.js", (const unsigned char[]){
#embed "Page/grid-window.js" suffix(, 0)
  }}, {"grid.js", (const unsigned char[]){
#embed "Page/grid.js" suffix(, 0)
  }}, {"help.css", (const unsigned char[]){
#embed "Page/help.css" suffix(, 0)
  }}, {"help.html", (const unsigned char[]){
#embed "Page/help.html" suffix(, 0)
  }}, {"help.js", (const unsigned char[]){
#embed "Page/help.js" suffix(, 0)
  }}, {"icon.svg", (const unsigned char[]){
#embed "Page/icon.svg" suffix(, 0)
  }}, {"image-loader.js", (const unsigned char[]){
#embed "Page/image-loader.js" suffix(, 0)
  }}, {"image-size.js", (const unsigned char[]){
#embed "Page/image-size.js" suffix(, 0)
  }}, {"index.html", (const unsigned char[]){
#embed "Page/index.html" suffix(, 0)
  }}, {"items.js", (const unsigned char[]){
#embed "Page/items.js" suffix(, 0)
  }}, {"keyboard.js", (const unsigned char[]){
#embed "Page/keyboard.js" suffix(, 0)
  }}, {"layouts.js", (const unsigned char[]){
#embed "Page/layouts.js" suffix(, 0)
  }}, {"login.html", (const unsigned char[]){
#embed "Page/login.html" suffix(, 0)
  }}, {"look.css", (const unsigned char[]){
#embed "Page/look.css" suffix(, 0)
  }}, {"main.js", (const unsigned char[]){
#embed "Page/main.js" suffix(, 0)
  }}, {"notices.js", (const unsigned char[]){
#embed "Page/notices.js" suffix(, 0)
  }}, {"placeholder.js", (const unsigned char[]){
#embed "Page/placeholder.js" suffix(, 0)
  }}, {"scroll-space.js", (const unsigned char[]){
#embed "Page/scroll-space.js" suffix(, 0)
  }}, {"scrubber.js", (const unsigned char[]){
#embed "Page/scrubber.js" suffix(, 0)
  }}, {"search-field.js", (const unsigned char[]){
#embed "Page/search-field.js" suffix(, 0)
  }}, {"selection.js", (const unsigned char[]){
#embed "Page/selection.js" suffix(, 0)
  }}, {"session.js", (const unsigned char[]){
#embed "Page/session.js" suffix(, 0)
  }}, {"sheets.js", (const unsigned char[]){
#embed "Page/sheets.js" suffix(, 0)
  }}, {"site.css", (const unsigned char[]){
#embed "Page/site.css" suffix(, 0)
  }}, {"site.js", (const unsigned char[]){
#embed "Page/site.js" suffix(, 0)
  }}, {"slide-show.js", (const unsigned char[]){
#embed "Page/slide-show.js" suffix(, 0)
  }}, {"slide.js", (const unsigned char[]){
#embed "Page/slide.js" suffix(, 0)
  }}, {"swipe.js", (const unsigned char[]){
#embed "Page/swipe.js" suffix(, 0)
  }}, {"viewer-details.js", (const unsigned char[]){
#embed "Page/viewer-details.js" suffix(, 0)
  }}, {"viewer.css", (const unsigned char[]){
#embed "Page/viewer.css" suffix(, 0)
  }}, {"viewer.js", (const unsigned char[]){
#embed "Page/viewer.js" suffix(, 0)
  }}, {"windows.js", (const unsigned char[]){
#embed "Page/windows.js" suffix(, 0)
  }}, {"words.js", (const unsigned char[]){
#embed "Page/words.js" suffix(, 0)
  }}, {"zoom.js", (const unsigned char[]){
#embed "Page/zoom.js" suffix(, 0)
  }},
};

size_t gallery_page_file_count(void) { return sizeof files / sizeof files[0]; }

struct gallery_page_file gallery_page_file_at(size_t index) { return files[index]; }
