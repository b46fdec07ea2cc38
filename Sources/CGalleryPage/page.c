#include "CGalleryPage.h"

// Of C23, which clang has in every mode.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char address_js[] = {
#embed "Page/address.js"
};
static const unsigned char api_js[] = {
#embed "Page/api.js"
};
static const unsigned char cell_pool_js[] = {
#embed "Page/cell-pool.js"
};
static const unsigned char cell_js[] = {
#embed "Page/cell.js"
};
static const unsigned char choice_js[] = {
#embed "Page/choice.js"
};
static const unsigned char density_js[] = {
#embed "Page/density.js"
};
static const unsigned char gallery_css[] = {
#embed "Page/gallery.css"
};
static const unsigned char gallery_js[] = {
#embed "Page/gallery.js"
};
static const unsigned char grid_row_js[] = {
#embed "Page/grid-row.js"
};
static const unsigned char grid_window_js[] = {
#embed "Page/grid-window.js"
};
static const unsigned char grid_js[] = {
#embed "Page/grid.js"
};
static const unsigned char help_css[] = {
#embed "Page/help.css"
};
static const unsigned char help_html[] = {
#embed "Page/help.html"
};
static const unsigned char help_js[] = {
#embed "Page/help.js"
};
static const unsigned char icon_svg[] = {
#embed "Page/icon.svg"
};
static const unsigned char image_failure_js[] = {
#embed "Page/image-failure.js"
};
static const unsigned char image_loader_js[] = {
#embed "Page/image-loader.js"
};
static const unsigned char image_size_js[] = {
#embed "Page/image-size.js"
};
static const unsigned char index_html[] = {
#embed "Page/index.html"
};
static const unsigned char items_js[] = {
#embed "Page/items.js"
};
static const unsigned char justified_layout_js[] = {
#embed "Page/justified-layout.js"
};
static const unsigned char keyboard_js[] = {
#embed "Page/keyboard.js"
};
static const unsigned char login_html[] = {
#embed "Page/login.html"
};
static const unsigned char look_css[] = {
#embed "Page/look.css"
};
static const unsigned char main_js[] = {
#embed "Page/main.js"
};
static const unsigned char notices_js[] = {
#embed "Page/notices.js"
};
static const unsigned char placeholder_js[] = {
#embed "Page/placeholder.js"
};
static const unsigned char scroll_space_js[] = {
#embed "Page/scroll-space.js"
};
static const unsigned char scrubber_js[] = {
#embed "Page/scrubber.js"
};
static const unsigned char search_field_js[] = {
#embed "Page/search-field.js"
};
static const unsigned char sections_js[] = {
#embed "Page/sections.js"
};
static const unsigned char selection_js[] = {
#embed "Page/selection.js"
};
static const unsigned char session_js[] = {
#embed "Page/session.js"
};
static const unsigned char share_js[] = {
#embed "Page/share.js"
};
static const unsigned char shortcuts_js[] = {
#embed "Page/shortcuts.js"
};
static const unsigned char slide_show_js[] = {
#embed "Page/slide-show.js"
};
static const unsigned char slide_js[] = {
#embed "Page/slide.js"
};
static const unsigned char square_layout_js[] = {
#embed "Page/square-layout.js"
};
static const unsigned char swipe_js[] = {
#embed "Page/swipe.js"
};
static const unsigned char thumbhash_js[] = {
#embed "Page/thumbhash.js"
};
static const unsigned char toast_js[] = {
#embed "Page/toast.js"
};
static const unsigned char viewer_details_js[] = {
#embed "Page/viewer-details.js"
};
static const unsigned char viewer_js[] = {
#embed "Page/viewer.js"
};
static const unsigned char viewport_report_js[] = {
#embed "Page/viewport-report.js"
};
static const unsigned char windows_js[] = {
#embed "Page/windows.js"
};
static const unsigned char words_js[] = {
#embed "Page/words.js"
};
static const unsigned char zoom_js[] = {
#embed "Page/zoom.js"
};

static const struct gallery_page_file files[] = {
  {"address.js", "text/javascript; charset=utf-8", address_js, sizeof address_js},
  {"api.js", "text/javascript; charset=utf-8", api_js, sizeof api_js},
  {"cell-pool.js", "text/javascript; charset=utf-8", cell_pool_js, sizeof cell_pool_js},
  {"cell.js", "text/javascript; charset=utf-8", cell_js, sizeof cell_js},
  {"choice.js", "text/javascript; charset=utf-8", choice_js, sizeof choice_js},
  {"density.js", "text/javascript; charset=utf-8", density_js, sizeof density_js},
  {"gallery.css", "text/css; charset=utf-8", gallery_css, sizeof gallery_css},
  {"gallery.js", "text/javascript; charset=utf-8", gallery_js, sizeof gallery_js},
  {"grid-row.js", "text/javascript; charset=utf-8", grid_row_js, sizeof grid_row_js},
  {"grid-window.js", "text/javascript; charset=utf-8", grid_window_js, sizeof grid_window_js},
  {"grid.js", "text/javascript; charset=utf-8", grid_js, sizeof grid_js},
  {"help.css", "text/css; charset=utf-8", help_css, sizeof help_css},
  {"help.html", "text/html; charset=utf-8", help_html, sizeof help_html},
  {"help.js", "text/javascript; charset=utf-8", help_js, sizeof help_js},
  {"icon.svg", "image/svg+xml", icon_svg, sizeof icon_svg},
  {"image-failure.js", "text/javascript; charset=utf-8", image_failure_js, sizeof image_failure_js},
  {"image-loader.js", "text/javascript; charset=utf-8", image_loader_js, sizeof image_loader_js},
  {"image-size.js", "text/javascript; charset=utf-8", image_size_js, sizeof image_size_js},
  {"index.html", "text/html; charset=utf-8", index_html, sizeof index_html},
  {"items.js", "text/javascript; charset=utf-8", items_js, sizeof items_js},
  {"justified-layout.js", "text/javascript; charset=utf-8", justified_layout_js, sizeof justified_layout_js},
  {"keyboard.js", "text/javascript; charset=utf-8", keyboard_js, sizeof keyboard_js},
  {"login.html", "text/html; charset=utf-8", login_html, sizeof login_html},
  {"look.css", "text/css; charset=utf-8", look_css, sizeof look_css},
  {"main.js", "text/javascript; charset=utf-8", main_js, sizeof main_js},
  {"notices.js", "text/javascript; charset=utf-8", notices_js, sizeof notices_js},
  {"placeholder.js", "text/javascript; charset=utf-8", placeholder_js, sizeof placeholder_js},
  {"scroll-space.js", "text/javascript; charset=utf-8", scroll_space_js, sizeof scroll_space_js},
  {"scrubber.js", "text/javascript; charset=utf-8", scrubber_js, sizeof scrubber_js},
  {"search-field.js", "text/javascript; charset=utf-8", search_field_js, sizeof search_field_js},
  {"sections.js", "text/javascript; charset=utf-8", sections_js, sizeof sections_js},
  {"selection.js", "text/javascript; charset=utf-8", selection_js, sizeof selection_js},
  {"session.js", "text/javascript; charset=utf-8", session_js, sizeof session_js},
  {"share.js", "text/javascript; charset=utf-8", share_js, sizeof share_js},
  {"shortcuts.js", "text/javascript; charset=utf-8", shortcuts_js, sizeof shortcuts_js},
  {"slide-show.js", "text/javascript; charset=utf-8", slide_show_js, sizeof slide_show_js},
  {"slide.js", "text/javascript; charset=utf-8", slide_js, sizeof slide_js},
  {"square-layout.js", "text/javascript; charset=utf-8", square_layout_js, sizeof square_layout_js},
  {"swipe.js", "text/javascript; charset=utf-8", swipe_js, sizeof swipe_js},
  {"thumbhash.js", "text/javascript; charset=utf-8", thumbhash_js, sizeof thumbhash_js},
  {"toast.js", "text/javascript; charset=utf-8", toast_js, sizeof toast_js},
  {"viewer-details.js", "text/javascript; charset=utf-8", viewer_details_js, sizeof viewer_details_js},
  {"viewer.js", "text/javascript; charset=utf-8", viewer_js, sizeof viewer_js},
  {"viewport-report.js", "text/javascript; charset=utf-8", viewport_report_js, sizeof viewport_report_js},
  {"windows.js", "text/javascript; charset=utf-8", windows_js, sizeof windows_js},
  {"words.js", "text/javascript; charset=utf-8", words_js, sizeof words_js},
  {"zoom.js", "text/javascript; charset=utf-8", zoom_js, sizeof zoom_js},
};

size_t gallery_page_file_count(void) { return sizeof files / sizeof files[0]; }

struct gallery_page_file gallery_page_file_at(size_t index) { return files[index]; }
