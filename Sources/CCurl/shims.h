// Swift cannot call C's variadic functions: each shim fixes one set of argument types.
#ifndef THUMBNAILER_CCURL_H
#define THUMBNAILER_CCURL_H

#include <curl/curl.h>

static inline CURLcode ccurl_setopt_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

#endif
