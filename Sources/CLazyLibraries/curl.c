// The functions of libcurl that are called.
#include "stubs.h"
#include "include/CLazyLibraries.h"

LAZY_LIBRARY(curl, "libcurl.so.4")

const char *clazy_load_curl(void) { return lazy_load(&lazy_library_curl); }

LAZY_FUNCTION(curl, curl_easy_cleanup)
LAZY_FUNCTION(curl, curl_easy_getinfo)
LAZY_FUNCTION(curl, curl_easy_init)
LAZY_FUNCTION(curl, curl_easy_reset)
LAZY_FUNCTION(curl, curl_easy_setopt)
LAZY_FUNCTION(curl, curl_easy_strerror)
LAZY_FUNCTION(curl, curl_free)
LAZY_FUNCTION(curl, curl_global_init)
LAZY_FUNCTION(curl, curl_multi_add_handle)
LAZY_FUNCTION(curl, curl_multi_cleanup)
LAZY_FUNCTION(curl, curl_multi_info_read)
LAZY_FUNCTION(curl, curl_multi_init)
LAZY_FUNCTION(curl, curl_multi_perform)
LAZY_FUNCTION(curl, curl_multi_poll)
LAZY_FUNCTION(curl, curl_multi_remove_handle)
LAZY_FUNCTION(curl, curl_multi_setopt)
LAZY_FUNCTION(curl, curl_multi_strerror)
LAZY_FUNCTION(curl, curl_multi_wakeup)
LAZY_FUNCTION(curl, curl_slist_append)
LAZY_FUNCTION(curl, curl_slist_free_all)
LAZY_FUNCTION(curl, curl_url)
LAZY_FUNCTION(curl, curl_url_cleanup)
LAZY_FUNCTION(curl, curl_url_get)
LAZY_FUNCTION(curl, curl_url_set)
LAZY_FUNCTION(curl, curl_version_info)
