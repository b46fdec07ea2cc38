#ifndef THUMBNAILER_CWEBP_H
#define THUMBNAILER_CWEBP_H

#include <webp/decode.h>

#endif
