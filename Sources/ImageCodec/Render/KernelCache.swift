import Synchronization

/// The kernels computed last: a gallery reduces images of a few sizes to cells of one size, and a kernel costs as much
/// as resampling a hundred rows.
enum KernelCache {
  /// The bytes of weights kept.
  private static let capacity = 1 << 20
  private static let state = Mutex(State())

  private struct State {
    var kernels: [ResampleKernel.Axis: ResampleKernel] = [:]
    var bytes = 0
  }

  /// The kernel of an axis.
  static func kernel(_ axis: ResampleKernel.Axis) -> ResampleKernel {
    if let known = state.withLock({ $0.kernels[axis] }) { return known }
    let kernel = ResampleKernel(axis)
    state.withLock { state in
      // All are dropped at once: used kernels are soon computed again.
      if state.bytes + kernel.bytes > capacity { state = State() }
      if kernel.bytes <= capacity, state.kernels.updateValue(kernel, forKey: axis) == nil {
        state.bytes += kernel.bytes
      }
    }
    return kernel
  }
}
