// A file system in memory (libfuse) that forgets at a power cut what was not synced. Scripts/power-cuts compiles it.
//
//   powercut MOUNT -f -s        with POWERCUT_SURVIVORS=FOLDER and POWERCUT_SEED=N
//
// A folder `.power-cut` is the power cut: what would be found on the disk afterwards is written into FOLDER, and the
// file system ends, between two requests, as it has one thread. It keeps what journalling file systems keep (ext4, XFS,
// Btrfs): fsync keeps a file's bytes, and all names made, changed and removed until then. Of later names a random
// beginning is kept, in order; of later bytes a random beginning of those behind the old end of the file, and of those
// that replace others each block of 4 KiB or not.
#define FUSE_USE_VERSION 35
#define _GNU_SOURCE
#include <errno.h>
#include <fuse.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 4096 };

// Bytes of a file.
struct bytes {
  char *start;
  size_t count;
};

// A write or, with no bytes, a change of length to `offset`, that was not synced.
struct change {
  struct change *next;
  off_t offset;
  size_t count;
  char bytes[];
};

struct node {
  ino_t number;
  mode_t mode;
  struct timespec modified;
  int links, opens;
  struct bytes now, disk;
  struct change *first, **last;
};

struct name {
  char *path;
  struct node *node;
};

// All names of a moment, in no order: there are few.
struct names {
  struct name *start;
  size_t count;
};

// A change of names that was not synced.
struct renaming {
  enum { ADD, REMOVE, MOVE } kind;
  char *path, *target;
  struct node *node;
};

static struct names now, disk;
static struct renaming journal[1 << 16];
static size_t journalled;
static ino_t last_number = 1;

static bool is_kept(void) { return rand() & 1; }

static struct name *find(struct names *names, const char *path) {
  for (size_t i = 0; i < names->count; i++)
    if (strcmp(names->start[i].path, path) == 0) return &names->start[i];
  return NULL;
}

static void apply(struct names *names, const struct renaming *change) {
  struct name *old = find(names, change->kind == MOVE ? change->target : change->path);
  if (old && change->kind != MOVE) {
    if (change->kind == ADD) {
      old->node = change->node;
    } else {
      free(old->path);
      *old = names->start[--names->count];
    }
  } else if (change->kind == ADD) {
    names->start = realloc(names->start, (names->count + 1) * sizeof *names->start);
    names->start[names->count++] = (struct name){strdup(change->path), change->node};
  } else if (change->kind == MOVE) {
    if (old) {
      free(old->path);
      *old = names->start[--names->count];
    }
    size_t length = strlen(change->path);
    for (size_t i = 0; i < names->count; i++) {
      char *path = names->start[i].path;
      if (strncmp(path, change->path, length) != 0 || (path[length] && path[length] != '/')) continue;
      if (asprintf(&names->start[i].path, "%s%s", change->target, path + length) < 0) abort();
      free(path);
    }
  }
}

// Changes the names, and notes the change for the next sync.
static void record(int kind, const char *path, const char *target, struct node *node) {
  struct renaming change = {kind, strdup(path), target ? strdup(target) : NULL, node};
  apply(&now, &change);
  if (journalled < sizeof journal / sizeof *journal) journal[journalled++] = change;
}

static void set_length(struct bytes *bytes, size_t count) {
  if (count > bytes->count) {
    bytes->start = realloc(bytes->start, count);
    memset(bytes->start + bytes->count, 0, count - bytes->count);
  }
  bytes->count = count;
}

static void put(struct bytes *to, off_t offset, const char *bytes, size_t count) {
  if (offset + count > to->count) set_length(to, offset + count);
  memcpy(to->start + offset, bytes, count);
}

static void note(struct node *node, off_t offset, const char *bytes, size_t count) {
  struct change *change = malloc(sizeof *change + count);
  *change = (struct change){NULL, offset, count};
  if (count) memcpy(change->bytes, bytes, count);
  *node->last = change;
  node->last = &change->next;
}

static void forget_changes(struct node *node) {
  for (struct change *change = node->first, *next; change; change = next) next = change->next, free(change);
  node->first = NULL;
  node->last = &node->first;
}

static void sync_names(void) {
  for (size_t i = 0; i < journalled; i++) apply(&disk, &journal[i]);
  journalled = 0;
}

static void sync_node(struct node *node) {
  set_length(&node->disk, 0);
  if (node->now.count) put(&node->disk, 0, node->now.start, node->now.count);
  forget_changes(node);
  sync_names();
}

// What the disk has of a file's changes.
static void keep_some(struct node *node) {
  size_t old_end = node->disk.count;
  bool grows = is_kept();
  for (struct change *change = node->first; change; change = change->next) {
    if (change->count == 0) {
      if (grows) set_length(&node->disk, change->offset);
      if (node->disk.count < old_end) old_end = node->disk.count;
      continue;
    }
    for (size_t done = 0, part; done < change->count; done += part) {
      off_t at = change->offset + done;
      part = BLOCK - at % BLOCK;
      if (part > change->count - done) part = change->count - done;
      bool replaces = at + part <= old_end;
      if (!replaces && grows && rand() % 16 == 0) grows = false;
      if (replaces ? is_kept() : grows) put(&node->disk, at, change->bytes + done, part);
    }
  }
  forget_changes(node);
}

static int by_length(const void *a, const void *b) {
  return (int)strlen(((const struct name *)a)->path) - (int)strlen(((const struct name *)b)->path);
}

static void cut_power(void) {
  size_t kept = is_kept() ? rand() % (journalled + 1) : 0;
  for (size_t i = 0; i < kept; i++) apply(&disk, &journal[i]);
  // Folders before what is in them.
  qsort(disk.start, disk.count, sizeof *disk.start, by_length);
  for (size_t i = 0; i < disk.count; i++) {
    struct node *node = disk.start[i].node;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", getenv("POWERCUT_SURVIVORS"), disk.start[i].path);
    if (S_ISDIR(node->mode)) {
      mkdir(path, 0700);
      continue;
    }
    if (node->first) keep_some(node);
    FILE *file = fopen(path, "w");
    if (!file) continue;
    fwrite(node->disk.start, 1, node->disk.count, file);
    fchmod(fileno(file), node->mode & 0777);
    futimens(fileno(file), (struct timespec[]){node->modified, node->modified});
    fclose(file);
  }
  _exit(0);
}

static struct node *node_of(const char *path, struct fuse_file_info *info) {
  if (info && info->fh) return (struct node *)info->fh;
  struct name *name = path ? find(&now, path) : NULL;
  return name ? name->node : NULL;
}

static struct node *make(const char *path, mode_t mode) {
  struct node *node = calloc(1, sizeof *node);
  node->number = ++last_number;
  node->mode = mode;
  node->links = 1;
  node->last = &node->first;
  clock_gettime(CLOCK_REALTIME, &node->modified);
  record(ADD, path, NULL, node);
  return node;
}

#define NODE                                        \
  struct node *node = node_of(path, info);          \
  if (!node) return -ENOENT;

static int get_attributes(const char *path, struct stat *status, struct fuse_file_info *info) {
  memset(status, 0, sizeof *status);
  if (path && strcmp(path, "/") == 0) {
    *status = (struct stat){.st_mode = S_IFDIR | 0700, .st_nlink = 2, .st_ino = 1};
    return 0;
  }
  NODE
  *status = (struct stat){.st_ino = node->number, .st_mode = node->mode, .st_nlink = node->links,
                          .st_size = node->now.count, .st_blocks = (node->now.count + 511) / 512,
                          .st_mtim = node->modified, .st_ctim = node->modified, .st_blksize = BLOCK,
                          .st_uid = getuid(), .st_gid = getgid()};
  return 0;
}

static int open_file(const char *path, struct fuse_file_info *info) {
  NODE
  info->fh = (uint64_t)node;
  return 0;
}

static int create(const char *path, mode_t mode, struct fuse_file_info *info) {
  info->fh = (uint64_t)make(path, S_IFREG | (mode & 0777));
  return 0;
}

static int read_file(const char *path, char *bytes, size_t count, off_t offset, struct fuse_file_info *info) {
  NODE
  if ((size_t)offset >= node->now.count) return 0;
  if (count > node->now.count - offset) count = node->now.count - offset;
  memcpy(bytes, node->now.start + offset, count);
  return (int)count;
}

static int write_file(const char *path, const char *bytes, size_t count, off_t offset, struct fuse_file_info *info) {
  NODE
  put(&node->now, offset, bytes, count);
  note(node, offset, bytes, count);
  clock_gettime(CLOCK_REALTIME, &node->modified);
  return (int)count;
}

static int truncate_file(const char *path, off_t length, struct fuse_file_info *info) {
  NODE
  set_length(&node->now, length);
  note(node, length, NULL, 0);
  clock_gettime(CLOCK_REALTIME, &node->modified);
  return 0;
}

static int sync_file(const char *path, int data_only, struct fuse_file_info *info) {
  (void)data_only;
  NODE
  sync_node(node);
  return 0;
}

static int sync_folder(const char *path, int data_only, struct fuse_file_info *info) {
  (void)path, (void)data_only, (void)info;
  sync_names();
  return 0;
}

static int remove_name(const char *path) {
  struct name *name = find(&now, path);
  if (!name) return -ENOENT;
  name->node->links--;
  record(REMOVE, path, NULL, NULL);
  return 0;
}

static int make_folder(const char *path, mode_t mode) {
  if (strcmp(path, "/.power-cut") == 0) cut_power();
  if (find(&now, path)) return -EEXIST;
  make(path, S_IFDIR | (mode & 0777));
  return 0;
}

static int remove_folder(const char *path) {
  size_t length = strlen(path);
  for (size_t i = 0; i < now.count; i++)
    if (strncmp(now.start[i].path, path, length) == 0 && now.start[i].path[length] == '/') return -ENOTEMPTY;
  return remove_name(path);
}

static int rename_file(const char *from, const char *to, unsigned flags) {
  if (!find(&now, from)) return -ENOENT;
  if (flags & ~RENAME_NOREPLACE) return -EINVAL;
  struct name *old = find(&now, to);
  if (old && flags) return -EEXIST;
  if (old) old->node->links--;
  record(MOVE, from, to, NULL);
  return 0;
}

static int link_file(const char *from, const char *to) {
  struct name *name = find(&now, from);
  if (!name) return -ENOENT;
  if (find(&now, to)) return -EEXIST;
  struct node *node = name->node;
  node->links++;
  record(ADD, to, NULL, node);
  return 0;
}

// Calls on what is open come without a path, since its name may have been removed.
static int open_folder(const char *path, struct fuse_file_info *info) {
  info->fh = (uint64_t)strdup(path);
  return 0;
}

static int close_folder(const char *path, struct fuse_file_info *info) {
  (void)path;
  free((char *)info->fh);
  return 0;
}

static int list(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *info,
                enum fuse_readdir_flags flags) {
  (void)offset, (void)flags;
  path = (const char *)info->fh;
  size_t length = strcmp(path, "/") == 0 ? 0 : strlen(path);
  fill(buffer, ".", NULL, 0, 0);
  fill(buffer, "..", NULL, 0, 0);
  for (size_t i = 0; i < now.count; i++) {
    const char *other = now.start[i].path;
    if (strncmp(other, path, length) == 0 && other[length] == '/' && !strchr(other + length + 1, '/'))
      fill(buffer, other + length + 1, NULL, 0, 0);
  }
  return 0;
}

static int change_mode(const char *path, mode_t mode, struct fuse_file_info *info) {
  NODE
  node->mode = (node->mode & S_IFMT) | (mode & 07777);
  return 0;
}

static int change_owner(const char *path, uid_t user, gid_t group, struct fuse_file_info *info) {
  (void)path, (void)user, (void)group, (void)info;
  return 0;
}

static int set_times(const char *path, const struct timespec times[2], struct fuse_file_info *info) {
  NODE
  if (times[1].tv_nsec == UTIME_NOW) clock_gettime(CLOCK_REALTIME, &node->modified);
  else if (times[1].tv_nsec != UTIME_OMIT) node->modified = times[1];
  return 0;
}

static void *start(struct fuse_conn_info *connection, struct fuse_config *settings) {
  (void)connection;
  settings->use_ino = 1;
  settings->hard_remove = 1;
  settings->nullpath_ok = 1;
  settings->attr_timeout = settings->entry_timeout = settings->negative_timeout = 0;
  return NULL;
}

static const struct fuse_operations operations = {
    .init = start, .getattr = get_attributes, .open = open_file, .create = create, .read = read_file,
    .write = write_file, .truncate = truncate_file, .fsync = sync_file, .fsyncdir = sync_folder,
    .unlink = remove_name, .mkdir = make_folder, .rmdir = remove_folder, .rename = rename_file, .link = link_file,
    .opendir = open_folder, .releasedir = close_folder,
    .readdir = list, .chmod = change_mode, .chown = change_owner, .utimens = set_times,
};

int main(int count, char **words) {
  srand((unsigned)strtoul(getenv("POWERCUT_SEED"), NULL, 10));
  return fuse_main(count, words, &operations, NULL);
}
