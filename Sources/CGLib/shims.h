// GLib, which libvips uses: its checksums, so that no library of cryptography is built for one hash.
#ifndef THUMBNAILER_CGLIB_H
#define THUMBNAILER_CGLIB_H

#include <glib.h>

#endif
