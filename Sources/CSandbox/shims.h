// System calls of the decode helper that Swift cannot make: variadic functions, function-like macros, and calls that
// its module of the C library leaves out.
#ifndef THUMBNAILER_CSANDBOX_H
#define THUMBNAILER_CSANDBOX_H

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// --- Descriptors over a socket: CMSG_DATA and its kin are macros -----------------------------------------------------

// The most descriptors that are sent at once.
enum { csandbox_most_descriptors = 2 };

// Sends the bytes of all pieces, with up to two descriptors beside the first of them. Returns the result of sendmsg(2).
static inline ssize_t csandbox_send(
    int socket, const struct iovec *pieces, size_t count, const int *descriptors, size_t files) {
  union {
    char bytes[CMSG_SPACE(csandbox_most_descriptors * sizeof(int))];
    struct cmsghdr align;
  } control;
  memset(&control, 0, sizeof control);
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_iov = (struct iovec *)pieces;
  message.msg_iovlen = count;
  if (!files) return sendmsg(socket, &message, MSG_NOSIGNAL);
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(files * sizeof(int));
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(files * sizeof(int));
  memcpy(CMSG_DATA(header), descriptors, files * sizeof(int));
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

// Receives up to `length` bytes, and the two descriptors beside them, which are -1 where there is none. Returns the
// result of recvmsg(2).
static inline ssize_t csandbox_receive(int socket, void *bytes, size_t length, int *descriptors) {
  union {
    char bytes[CMSG_SPACE(csandbox_most_descriptors * sizeof(int))];
    struct cmsghdr align;
  } control;
  struct iovec piece = {bytes, length};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  descriptors[0] = descriptors[1] = -1;
  ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (count <= 0) return count;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
    memcpy(descriptors, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
  return count;
}

// A file in memory, without a name. glibc declares memfd_create for GNU sources only.
static inline int csandbox_memory_file(void) {
  return (int)syscall(SYS_memfd_create, "picture", 3u /* MFD_CLOEXEC, MFD_ALLOW_SEALING */);
}

// Seals a file in memory against all changes, or against those of its length. The constants are for GNU sources only.
static inline int csandbox_seal(int file) {
  return fcntl(file, 1033 /* F_ADD_SEALS */, 0xf /* F_SEAL_SEAL, _SHRINK, _GROW, _WRITE */);
}
static inline int csandbox_seal_length(int file) {
  return fcntl(file, 1033 /* F_ADD_SEALS */, 0x7 /* F_SEAL_SEAL, _SHRINK, _GROW */);
}

// Closes all descriptors from `first` on in the process to be. Swift's module leaves it out.
static inline int csandbox_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

// --- The helper's confinement ----------------------------------------------------------------------------------------

// One heap for all threads: each separate heap would reserve 64 MiB of the limited address space.
static inline void csandbox_use_one_heap(void) { mallopt(M_ARENA_MAX, 1); }

// Sets the default stack size of threads in bytes. With the usual 8 MiB, the threads of decoders would use up the
// helper's limited address space.
static inline int csandbox_limit_stacks(size_t bytes) {
  pthread_attr_t attributes;
  int result = pthread_attr_init(&attributes);
  if (result == 0) result = pthread_attr_setstacksize(&attributes, bytes);
  if (result == 0) result = pthread_setattr_default_np(&attributes);
  return result;
}

// Keeps up to `most` bytes of freed memory for the next image: the kernel clears returned pages for each image, which
// takes as long as decoding a tiny one. Blocks larger than `largest` are returned.
static inline void csandbox_keep_memory(int most, int largest) {
  mallopt(M_TRIM_THRESHOLD, most);
  mallopt(M_TOP_PAD, 1 << 20);
  mallopt(M_MMAP_THRESHOLD, largest);
}

// Forks a process that is a child of this one's parent, as clone(2) with CLONE_PARENT: 0 in the new process, its number
// in this one, -1 if there is none. Only for a process of one thread, which needs none of the preparations of fork(3).
static inline pid_t csandbox_fork_sibling(void) {
  return (pid_t)syscall(SYS_clone, 0x8000UL /* CLONE_PARENT */ | SIGCHLD, 0UL, 0UL, 0UL, 0UL);
}

// Lets the kernel end this process with the thread that started it. prctl is variadic.
static inline int csandbox_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0, 0, 0); }

// No program that this process might run gets more rights than it has. A filter of system calls requires this.
static inline int csandbox_set_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

// Other processes of the same user cannot inspect this process, and it leaves no core dump.
static inline int csandbox_set_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// Sets the soft limit of another process' CPU time, in seconds, at which it gets a signal. The hard limit stays.
// prlimit is declared for GNU sources only.
static inline int csandbox_limit_cpu_time(pid_t process, uint64_t seconds) {
  uint64_t limits[2];
  if (syscall(SYS_prlimit64, process, RLIMIT_CPU, NULL, limits)) return -1;
  limits[0] = seconds < limits[1] ? seconds : limits[1];
  return (int)syscall(SYS_prlimit64, process, RLIMIT_CPU, limits, NULL);
}

// New namespaces, which are empty: a network without interfaces, no shared memory, and, for a user namespace, no rights
// over anything outside. unshare is declared for GNU sources only.
static const int csandbox_user_namespace = 0x10000000;
static const int csandbox_network_namespace = 0x40000000;
static const int csandbox_ipc_namespace = 0x08000000;
static inline int csandbox_unshare(int namespaces) { return (int)syscall(SYS_unshare, namespaces); }

// Gives up all capabilities for good: those of root, and those of a new user namespace.
static inline int csandbox_drop_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2];
  memset(none, 0, sizeof none);
  return (int)syscall(SYS_capset, &header, none);
}

// --- The filter of system calls --------------------------------------------------------------------------------------

// The architectures that there is a filter for.
static const uint32_t csandbox_x86_64 = AUDIT_ARCH_X86_64;
static const uint32_t csandbox_arm64 = AUDIT_ARCH_AARCH64;

// The architecture of the system calls, which the filter compares; 0 if there is no filter for it.
#if defined(__x86_64__)
static const uint32_t csandbox_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
static const uint32_t csandbox_architecture = AUDIT_ARCH_AARCH64;
#else
static const uint32_t csandbox_architecture = 0;
#endif

// Installs a filter in all threads, for good. Returns 0, or -1 if the kernel has none.
static inline int csandbox_filter_calls(struct sock_filter *program, size_t count) {
  if (!csandbox_architecture) {
    errno = ENOSYS;
    return -1;
  }
  struct sock_fprog filter = {(unsigned short)count, program};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
}

// Returns 0 if the kernel has filters that end a process, else -1.
static inline int csandbox_has_filters(void) {
  uint32_t action = SECCOMP_RET_KILL_PROCESS;
  if (!csandbox_architecture) {
    errno = ENOSYS;
    return -1;
  }
  return (int)syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
}

// --- Landlock: its functions and its newer constants are in no header of older systems -------------------------------

// The handled rights: they are refused unless a rule allows them.
struct csandbox_landlock_rights {
  uint64_t files, network, scopes;
};

// Opens a path for rules only, without reading it. For GNU sources only.
static const int csandbox_open_path = 010000000;  // O_PATH

// The version of the kernel's Landlock; -1 if it has none, or if it is turned off.
static inline int csandbox_landlock_version(void) {
  return (int)syscall(444 /* landlock_create_ruleset */, NULL, 0, 1u /* LANDLOCK_CREATE_RULESET_VERSION */);
}

// A set of rules for all that a version knows, as a descriptor.
static inline int csandbox_landlock_rules(int version) {
  struct csandbox_landlock_rights rights = {0x1fff, 0, 0};
  if (version >= 2) rights.files |= 1 << 13;  // moving a file to another folder
  if (version >= 3) rights.files |= 1 << 14;  // shortening a file
  if (version >= 5) rights.files |= 1 << 15;  // ioctl of devices
  if (version >= 4) rights.network = 3;  // bind and connect of TCP sockets
  if (version >= 6) rights.scopes = 3;  // sockets with abstract names, and signals, of processes outside
  size_t length = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  return (int)syscall(444 /* landlock_create_ruleset */, &rights, length, 0);
}

// Allows reading the files below a folder, or one file.
static inline int csandbox_landlock_allow_reading(int rules, int place, int is_folder) {
  struct {
    uint64_t rights;
    int32_t place;
  } __attribute__((packed)) rule = {is_folder ? 0xc /* READ_FILE, READ_DIR */ : 0x4, place};
  return (int)syscall(445 /* landlock_add_rule */, rules, 1 /* LANDLOCK_RULE_PATH_BENEATH */, &rule, 0);
}

// Enforces the rules on this thread and all that it starts, for good.
static inline int csandbox_landlock_enforce(int rules) {
  return (int)syscall(446 /* landlock_restrict_self */, rules, 0);
}

#endif
