// The parts of the C library that Swift's module leaves out: the allocator's settings, kinds of file systems, and
// functions with variable arguments.
#ifndef THUMBNAILER_CLIBC_H
#define THUMBNAILER_CLIBC_H

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/vfs.h>

/// Names the calling thread; Linux keeps the first 15 bytes.
static inline void clibc_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

/// The kind of the file system of a path, as in linux/magic.h; 0 if there is no such path.
static inline unsigned clibc_file_system(const char *path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (unsigned)status.f_type : 0;
}

#endif
