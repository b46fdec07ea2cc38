#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "stubs.h"

// Saves the registers of the arguments, fills the slot, and continues in the function itself. A variadic function gets
// the number of its vector registers in %al.
#if defined(__x86_64__)
__asm__(
  ".text\n.balign 16\n.globl lazy_bind_and_go\n.hidden lazy_bind_and_go\n.type lazy_bind_and_go, %function\n"
  "lazy_bind_and_go:\n"
  "pushq %rbp\nmovq %rsp, %rbp\nsubq $192, %rsp\nandq $-16, %rsp\n"
  "movq %rdi, 0(%rsp)\nmovq %rsi, 8(%rsp)\nmovq %rdx, 16(%rsp)\nmovq %rcx, 24(%rsp)\n"
  "movq %r8, 32(%rsp)\nmovq %r9, 40(%rsp)\nmovq %rax, 48(%rsp)\n"
  "movups %xmm0, 64(%rsp)\nmovups %xmm1, 80(%rsp)\nmovups %xmm2, 96(%rsp)\nmovups %xmm3, 112(%rsp)\n"
  "movups %xmm4, 128(%rsp)\nmovups %xmm5, 144(%rsp)\nmovups %xmm6, 160(%rsp)\nmovups %xmm7, 176(%rsp)\n"
  "movq %r11, %rdi\ncall lazy_bind\nmovq %rax, %r11\n"
  "movq 0(%rsp), %rdi\nmovq 8(%rsp), %rsi\nmovq 16(%rsp), %rdx\nmovq 24(%rsp), %rcx\n"
  "movq 32(%rsp), %r8\nmovq 40(%rsp), %r9\nmovq 48(%rsp), %rax\n"
  "movups 64(%rsp), %xmm0\nmovups 80(%rsp), %xmm1\nmovups 96(%rsp), %xmm2\nmovups 112(%rsp), %xmm3\n"
  "movups 128(%rsp), %xmm4\nmovups 144(%rsp), %xmm5\nmovups 160(%rsp), %xmm6\nmovups 176(%rsp), %xmm7\n"
  "movq %rbp, %rsp\npopq %rbp\njmpq *%r11\n"
  ".size lazy_bind_and_go, . - lazy_bind_and_go\n");
#elif defined(__aarch64__)
__asm__(
  ".text\n.balign 16\n.globl lazy_bind_and_go\n.hidden lazy_bind_and_go\n.type lazy_bind_and_go, %function\n"
  "lazy_bind_and_go:\n"
  "stp x29, x30, [sp, #-224]!\nmov x29, sp\n"
  "stp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\nstr x8, [sp, #80]\n"
  "stp q0, q1, [sp, #96]\nstp q2, q3, [sp, #128]\nstp q4, q5, [sp, #160]\nstp q6, q7, [sp, #192]\n"
  "mov x0, x16\nbl lazy_bind\nmov x17, x0\n"
  "ldp x0, x1, [sp, #16]\nldp x2, x3, [sp, #32]\nldp x4, x5, [sp, #48]\nldp x6, x7, [sp, #64]\nldr x8, [sp, #80]\n"
  "ldp q0, q1, [sp, #96]\nldp q2, q3, [sp, #128]\nldp q4, q5, [sp, #160]\nldp q6, q7, [sp, #192]\n"
  "ldp x29, x30, [sp], #224\nbr x17\n"
  ".size lazy_bind_and_go, . - lazy_bind_and_go\n");
#endif

// The dynamic loader has its own lock and counts: two threads get the same handle.
const char *lazy_load(struct lazy_library *library) {
  if (__atomic_load_n(&library->handle, __ATOMIC_ACQUIRE)) return NULL;
  void *handle = dlopen(library->name, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return dlerror();
  __atomic_store_n(&library->handle, handle, __ATOMIC_RELEASE);
  return NULL;
}

// Looks up the function of a slot, for itself and for later calls.
__attribute__((visibility("hidden"), used)) void *lazy_bind(struct lazy_slot *slot) {
  const char *failure = lazy_load(slot->library);
  // Another thread may load it and store the same handle at the same time.
  void *target = failure ? NULL : dlsym(__atomic_load_n(&slot->library->handle, __ATOMIC_ACQUIRE), slot->name);
  if (!target) {
    // As the dynamic loader ends a program that lacks a library.
    fprintf(stderr, "cannot load %s: %s; install it, or a newer one\n", slot->library->name, failure ? failure : dlerror());
    _Exit(127);
  }
  __atomic_store_n(&slot->target, target, __ATOMIC_RELEASE);
  return target;
}
