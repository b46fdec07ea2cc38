// Calls the kernel as code would that has taken over a process: by number, past the C library.
#ifndef THUMBNAILER_CATTACK_H
#define THUMBNAILER_CATTACK_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// Returns the result, or the negative error number. syscall is variadic.
static inline long attack_call(long number, long a, long b, long c, long d, long e, long f) {
  long result = syscall(number, a, b, c, d, e, f);
  return result == -1 ? -errno : result;
}

// The same call by the interface of 32-bit programs: open(path, O_RDONLY) has number 5 there. The path must be below
// 4 GiB to be found, but the filter is asked before that.
static inline long attack_int80(long number, long a, long b) {
#ifdef __x86_64__
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b) : "memory", "r8", "r9", "r10", "r11");
  return (int)result;
#else
  return -ENOSYS;
#endif
}

// Sends a descriptor over a socket, with one byte.
static inline long attack_send_descriptor(int socket, int descriptor) {
  char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
  struct iovec piece = {&byte, 1};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  return attack_call(SYS_sendmsg, socket, (long)&message, 0, 0, 0, 0);
}

// Lets a system call fail with ENOSYS in this process and in the programs that it becomes: a kernel that lacks it.
static inline int attack_remove_call(unsigned number) {
  struct sock_filter program[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {4, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

#endif
