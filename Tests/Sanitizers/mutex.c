// Tells ThreadSanitizer what Swift's Mutex does where it is contended.
//
// The uncontended paths of a Mutex are inlined into its users, where the sanitizer sees their atomic operations. Where
// another thread holds it, the kernel hands it over (FUTEX_LOCK_PI) within a library that is not instrumented: the
// sanitizer misses that, and reports races that are none. These functions take the place of the library's, call them,
// and add the missing order. Linked by Scripts/sanitize alone.
#include <dlfcn.h>
#include <stdint.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define SELF __attribute__((swift_context)) void *self
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef __attribute__((swiftcall)) void (*locking)(uint32_t thread, SELF);
typedef __attribute__((swiftcall)) void (*unlocking)(SELF);

__attribute__((swiftcall)) void lock_slow(uint32_t thread, SELF) __asm__(LOCK_SLOW);
__attribute__((swiftcall)) void unlock_slow(SELF) __asm__(UNLOCK_SLOW);

__attribute__((swiftcall)) void lock_slow(uint32_t thread, SELF) {
  ((locking)dlsym(RTLD_NEXT, LOCK_SLOW))(thread, self);
  __tsan_acquire(self);
}

__attribute__((swiftcall)) void unlock_slow(SELF) {
  __tsan_release(self);
  ((unlocking)dlsym(RTLD_NEXT, UNLOCK_SLOW))(self);
}
