import CSandbox
import Glibc
import ImageCodec
import ThumbnailCore

/// Memory through which a helper passes samples to the pipeline, which copies them: a socket takes three times as long.
///
/// Each helper has its own from its fork on. Its length is sealed, and the pipeline writes nothing into it. A broken
/// helper may change it at any time, so the pipeline concludes nothing from what is in it.
final class SharedSamples: @unchecked Sendable {
  // Safety: in each process one thread at a time uses it, that of the helper's owner.
  private let bytes: UnsafeMutableRawBufferPointer

  /// The bytes that a helper keeps while it waits.
  private static let kept = 1 << 20

  /// The length for helpers with a memory limit, in bytes: a thumbnail of 1,600 pixels has 6 MB.
  static func length(memoryLimit: Int) -> Int { min(8 << 20, memoryLimit >> 7) }

  /// The pipeline's end, and the file for the helper.
  static func make(memoryLimit: Int) throws(HelperFailure) -> (SharedSamples, FileDescriptor) {
    let file = FileDescriptor(owning: csandbox_memory_file())
    if file.rawValue >= 0, ftruncate(file.rawValue, off_t(length(memoryLimit: memoryLimit))) == 0,
      csandbox_seal_length(file.rawValue) == 0, let samples = SharedSamples(file, memoryLimit: memoryLimit)
    {
      return (samples, file)
    }
    throw .cannotStart(detail: "no memory for samples: \(SystemFailure.last.reason)")
  }

  /// Maps the file; nil if there is no address space.
  init?(_ file: FileDescriptor, memoryLimit: Int) {
    let length = Self.length(memoryLimit: memoryLimit)
    guard let start = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, file.rawValue, 0), start != MAP_FAILED
    else { return nil }
    bytes = UnsafeMutableRawBufferPointer(start: start, count: length)
  }

  deinit { munmap(bytes.baseAddress, bytes.count) }

  /// Returns memory to the system, which large thumbnails have left.
  func shrink() {
    guard bytes.count > Self.kept, let start = bytes.baseAddress else { return }
    madvise(start + Self.kept, bytes.count - Self.kept, MADV_REMOVE)
  }

  /// Writes samples behind `used` bytes; false if they do not fit. In the helper.
  func write(_ raster: Raster, behind used: inout Int) -> Bool {
    raster.withBytes { samples in
      guard samples.count <= bytes.count - used else { return false }
      UnsafeMutableRawBufferPointer(rebasing: bytes[used...]).copyMemory(from: samples)
      used += samples.count
      return true
    }
  }

  /// Copies samples from behind `used` bytes; false if they cannot be there. In the pipeline.
  func read(into samples: UnsafeMutableRawBufferPointer, behind used: inout Int) -> Bool {
    guard samples.count <= bytes.count - used else { return false }
    samples.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[used..<used + samples.count]))
    used += samples.count
    return true
  }
}
