// What the decode helper needs of the system that Swift cannot call: variadic functions, function-like macros, and
// calls that its module of the C library leaves out.
#ifndef THUMBNAILER_CSANDBOX_H
#define THUMBNAILER_CSANDBOX_H

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// --- Descriptors over a socket: CMSG_DATA and its kin are macros ------------------------------------------------------

// Sends `length` bytes with a descriptor beside the first of them. As sendmsg(2) returns.
static inline ssize_t csandbox_send(int socket, const void *bytes, size_t length, int descriptor) {
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control;
  memset(&control, 0, sizeof control);
  struct iovec piece = {(void *)bytes, length};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

// Receives up to `length` bytes, and the descriptor that came with them: -1 if none did. As recvmsg(2) returns.
static inline ssize_t csandbox_receive(int socket, void *bytes, size_t length, int *descriptor) {
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control;
  struct iovec piece = {bytes, length};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  *descriptor = -1;
  ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (count <= 0) return count;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS
      && header->cmsg_len == CMSG_LEN(sizeof(int)))
    memcpy(descriptor, CMSG_DATA(header), sizeof(int));
  return count;
}

// A file in memory, without a name. glibc declares memfd_create for GNU sources only.
static inline int csandbox_memory_file(void) { return (int)syscall(SYS_memfd_create, "picture", 1u /* MFD_CLOEXEC */); }

// Closes all descriptors from `first` on in the process to be. Swift's module leaves it out.
static inline int csandbox_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

// --- The helper's confinement -------------------------------------------------------------------------------------------

// One heap for all threads: each heap of its own would reserve 64 MiB of the address space that is limited.
static inline void csandbox_use_one_heap(void) { mallopt(M_ARENA_MAX, 1); }

// Lets the kernel end this process with the thread that started it. prctl is variadic.
static inline int csandbox_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0, 0, 0); }

// No program that this process might run gets more rights than it has. Also what a filter of system calls asks for.
static inline int csandbox_set_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

#if defined(__x86_64__)
#define CSANDBOX_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CSANDBOX_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// Refuses the system calls that no decoder needs, in all threads, for good: new sockets, other programs, other
// processes, and whatever changes the file system. They fail with EPERM, so a library that tries one goes on without.
// Returns 0, or -1 where the kernel or the architecture has no filter.
static inline int csandbox_filter_calls(void) {
#ifdef CSANDBOX_ARCHITECTURE
#define CSANDBOX_REFUSE(call) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
// Both calls have their arguments' low halves first: these architectures are little-endian.
#define CSANDBOX_ARGUMENT(index) offsetof(struct seccomp_data, args[index])
// Refuses a call whose argument has any of these bits, or none of them.
#define CSANDBOX_REFUSE_IF_ANY(call, index, bits) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 4), \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, CSANDBOX_ARGUMENT(index)), \
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), \
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define CSANDBOX_REFUSE_IF_NONE(call, index, bits) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 4), \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, CSANDBOX_ARGUMENT(index)), \
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 1, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), \
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
  struct sock_filter program[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CSANDBOX_ARCHITECTURE, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__
    // The calls of the x32 interface are these with another bit.
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    CSANDBOX_REFUSE(SYS_fork), CSANDBOX_REFUSE(SYS_vfork), CSANDBOX_REFUSE(SYS_creat), CSANDBOX_REFUSE(SYS_unlink),
    CSANDBOX_REFUSE(SYS_rename), CSANDBOX_REFUSE(SYS_mkdir), CSANDBOX_REFUSE(SYS_rmdir), CSANDBOX_REFUSE(SYS_link),
    CSANDBOX_REFUSE(SYS_symlink), CSANDBOX_REFUSE(SYS_chmod), CSANDBOX_REFUSE(SYS_chown), CSANDBOX_REFUSE(SYS_lchown),
    CSANDBOX_REFUSE(SYS_renameat), CSANDBOX_REFUSE(SYS_mknod),
    CSANDBOX_REFUSE_IF_ANY(SYS_open, 1, O_ACCMODE | O_CREAT | O_TRUNC),
#endif
    CSANDBOX_REFUSE(SYS_socket), CSANDBOX_REFUSE(SYS_socketpair), CSANDBOX_REFUSE(SYS_connect),
    CSANDBOX_REFUSE(SYS_bind), CSANDBOX_REFUSE(SYS_listen), CSANDBOX_REFUSE(SYS_accept), CSANDBOX_REFUSE(SYS_accept4),
    CSANDBOX_REFUSE(SYS_execve), CSANDBOX_REFUSE(SYS_execveat), CSANDBOX_REFUSE(SYS_kill), CSANDBOX_REFUSE(SYS_ptrace),
    CSANDBOX_REFUSE(SYS_process_vm_readv), CSANDBOX_REFUSE(SYS_process_vm_writev), CSANDBOX_REFUSE(SYS_unlinkat),
    CSANDBOX_REFUSE(SYS_renameat2), CSANDBOX_REFUSE(SYS_mkdirat), CSANDBOX_REFUSE(SYS_linkat),
    CSANDBOX_REFUSE(SYS_symlinkat), CSANDBOX_REFUSE(SYS_mknodat), CSANDBOX_REFUSE(SYS_truncate),
    CSANDBOX_REFUSE(SYS_ftruncate), CSANDBOX_REFUSE(SYS_fchmod), CSANDBOX_REFUSE(SYS_fchmodat),
    CSANDBOX_REFUSE(SYS_fchown), CSANDBOX_REFUSE(SYS_fchownat), CSANDBOX_REFUSE(SYS_mount),
    CSANDBOX_REFUSE(SYS_unshare), CSANDBOX_REFUSE(SYS_setns), CSANDBOX_REFUSE(SYS_io_uring_setup),
    // These two hide their arguments in memory; the C library falls back to those that do not.
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 1, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    CSANDBOX_REFUSE_IF_ANY(SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC),
    // A thread, but no process.
    CSANDBOX_REFUSE_IF_NONE(SYS_clone, 0, 0x00010000 /* CLONE_THREAD */),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {(unsigned short)(sizeof program / sizeof program[0]), program};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
#else
  errno = ENOSYS;
  return -1;
#endif
}

#endif
