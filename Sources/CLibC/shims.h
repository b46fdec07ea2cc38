// The parts of the C library that Swift's module leaves out: the allocator's settings, kinds of file systems,
// functions with variable arguments, and those for GNU sources.
#ifndef THUMBNAILER_CLIBC_H
#define THUMBNAILER_CLIBC_H

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/vfs.h>

/// Names the calling thread; Linux keeps the first 15 bytes.
static inline void clibc_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

/// The kind of the file system of a path, as in linux/magic.h; 0 if there is no such path.
static inline unsigned clibc_file_system(const char *path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (unsigned)status.f_type : 0;
}

/// The number of the file system of a path: ext4 and btrfs have one of their own, XFS and FAT that of the device; 0 if
/// there is none, as of NFS and FUSE.
static inline unsigned long clibc_file_system_number(const char *path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (unsigned long)(unsigned)status.f_fsid.__val[1] << 32 | (unsigned)status.f_fsid.__val[0] : 0;
}

// Its header would define types of Swift's module of the C library, too.
extern long getxattr(const char *path, const char *name, void *value, unsigned long size);

/// Reads an extended attribute of a file: its length, or -1.
static inline long clibc_attribute(const char *path, const char *name, void *value, unsigned long size) {
  return getxattr(path, name, value, size);
}

/// Whether somebody has the file, open for reading here, open for writing; or one that is open for writing here, open at
/// all: then no lease of it is granted. -1 if leases are not supported, or the file is another user's.
static inline int clibc_is_being_written(int file) {
  int lease = (fcntl(file, F_GETFL) & O_ACCMODE) == O_RDONLY ? F_RDLCK : F_WRLCK;
  // Who comes in this moment causes a signal: one that is ignored unless somebody asks for it.
  fcntl(file, 10 /* F_SETSIG */, SIGURG);
  if (fcntl(file, 1024 /* F_SETLEASE */, lease) != 0) {
    struct statfs place;
    if (errno != EAGAIN || fstatfs(file, &place) != 0) return -1;
    // NFS and SMB grant one only if their server has left the file to this machine.
    unsigned type = (unsigned)place.f_type;
    if (type != 0x6969 && type != 0xFF534D42 && type != 0xFE534D42) return 1;
    errno = EINVAL;
    return -1;
  }
  fcntl(file, 1024 /* F_SETLEASE */, F_UNLCK);
  return 0;
}

// Of the C library since 2.28, which declares them for GNU sources only.
extern int statx(int folder, const char *path, int flags, unsigned mask, struct statx *status);
extern int pipe2(int ends[2], int flags);
extern int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags);

/// Renames a file unless the new name exists: 0, or -1 and `errno`, which is EINVAL where the file system cannot.
static inline int clibc_rename_as_new(int folder, const char *from, const char *to) {
  return renameat2(folder, from, folder, to, 1 /* RENAME_NOREPLACE */);
}

/// Exchanges the names of two files. Returns like clibc_rename_as_new().
static inline int clibc_exchange_names(int folder, const char *one, const char *other) {
  return renameat2(folder, one, folder, other, 2 /* RENAME_EXCHANGE */);
}

#endif
