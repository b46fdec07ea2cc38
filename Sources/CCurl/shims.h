// Swift cannot call C's variadic functions: each shim fixes one set of argument types. The others bridge differences
// between the versions of libcurl on the supported systems (7.81 and up).
#ifndef THUMBNAILER_CCURL_H
#define THUMBNAILER_CCURL_H

#include <curl/curl.h>
#include <sys/syscall.h>
#include <unistd.h>

// A file without a name in memory, closed when a program is started; -1 with errno on failure. Glibc declares
// memfd_create for GNU sources only.
static inline int ccurl_memory_file(const char *name) { return (int)syscall(SYS_memfd_create, name, 1U); }

static inline CURLcode ccurl_setopt_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_setopt_string(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_setopt_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_setopt_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}

// The body and the header callback have the same C type.
static inline CURLcode ccurl_setopt_receiver(CURL *handle, CURLoption option, curl_write_callback value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_setopt_socket_opener(CURL *handle, curl_opensocket_callback value) {
  return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}

// The bytes of an address that is longer than its declared type. Swift would copy only the bytes of that type.
static inline const void *ccurl_socket_address(const struct curl_sockaddr *wanted) { return &wanted->addr; }

static inline CURLcode ccurl_getinfo_long(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode ccurl_getinfo_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline CURLMcode ccurl_multi_setopt_long(CURLM *handle, CURLMoption option, long value) {
  return curl_multi_setopt(handle, option, value);
}

// The textual list came with 7.85, when the bit mask was deprecated.
static inline CURLcode ccurl_allow_only_http(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075500
  return curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  return curl_easy_setopt(handle, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

// Without it, closing a transfer during its name look-up waits for the look-up, and so do all other transfers of the
// thread. Available since 7.87; older versions do wait.
static inline CURLcode ccurl_leave_resolver_behind(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
  return curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#else
  (void)handle;
  return CURLE_OK;
#endif
}

// The macro CURLVERSION_NOW.
static inline const char *ccurl_version(void) { return curl_version_info(CURLVERSION_NOW)->version; }

// The same macro.
static inline const curl_version_info_data *ccurl_version_info(void) { return curl_version_info(CURLVERSION_NOW); }

// The union in CURLMsg.
static inline CURLcode ccurl_message_result(const CURLMsg *message) { return message->data.result; }

#endif
