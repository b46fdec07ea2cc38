#ifndef THUMBNAILER_CWEBP_H
#define THUMBNAILER_CWEBP_H

#include <webp/decode.h>
#include <webp/encode.h>

#endif
