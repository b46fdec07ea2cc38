// A stub for each function: it jumps to the target of its slot, at first to code that fills the slot.
//
// The stubs are hidden, so that a library of the process never finds them in place of the real functions.
#ifndef THUMBNAILER_STUBS_H
#define THUMBNAILER_STUBS_H

struct lazy_library {
  const char *name;
  void *handle;
};

struct lazy_slot {
  void *target;
  const char *name;
  struct lazy_library *library;
};

// Loads the library. Returns NULL, or why it cannot be.
const char *lazy_load(struct lazy_library *library);

#define LAZY_LIBRARY(library, file) \
  __attribute__((visibility("hidden"))) struct lazy_library lazy_library_##library = {file, 0};

#define LAZY_SLOT(library, function) \
  ".section .rodata\n.Lname_" #function ": .asciz \"" #function "\"\n" \
  ".data\n.balign 8\n" \
  ".Lslot_" #function ": .quad .Lbind_" #function ", .Lname_" #function ", lazy_library_" #library "\n" \
  ".text\n.balign 16\n.globl " #function "\n.hidden " #function "\n.type " #function ", %function\n"

#if defined(__x86_64__)
#define LAZY_FUNCTION(library, function) \
  __asm__(LAZY_SLOT(library, function) \
    #function ": jmpq *.Lslot_" #function "(%rip)\n" \
    ".Lbind_" #function ": leaq .Lslot_" #function "(%rip), %r11\n" \
    "jmp lazy_bind_and_go\n" \
    ".size " #function ", . - " #function "\n");
#elif defined(__aarch64__)
#define LAZY_FUNCTION(library, function) \
  __asm__(LAZY_SLOT(library, function) \
    #function ": adrp x16, .Lslot_" #function "\n" \
    "ldr x17, [x16, #:lo12:.Lslot_" #function "]\n" \
    "br x17\n" \
    ".Lbind_" #function ": adrp x16, .Lslot_" #function "\n" \
    "add x16, x16, #:lo12:.Lslot_" #function "\n" \
    "b lazy_bind_and_go\n" \
    ".size " #function ", . - " #function "\n");
#else
#error "stubs are written for x86-64 and arm64"
#endif

#endif
