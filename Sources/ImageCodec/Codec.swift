// The module ImageCodec: turns the bytes of an image into thumbnails.

import CVips
import Foundation
import Synchronization
package import ThumbnailCore

/// The process-wide state of libvips: initialisation, formats, and cleanup per thread.
package enum Codec {
  /// Initialises libvips once, from any thread. It takes about 50 ms, so nothing calls it before the first decode.
  ///
  /// libvips runs one thread per decode, since images are decoded in parallel. Its operation cache is off, as it would
  /// keep images alive. Operations that libvips marks as unsafe for untrusted data are blocked.
  package static func start() throws(CodecError) { if let startFailure { throw startFailure } }

  /// Returns heap memory that earlier decodes have freed to the system. Takes milliseconds.
  package static func returnFreeMemory() { cvips_return_free_memory() }

  /// Whether JPEGs are read by the coefficient decoder, unless stated otherwise.
  ///
  /// Off in a debug build: without optimisation that reader is a hundred times slower, but libvips is not. A test that
  /// starts a debug build of `thumbs` enables it with an environment variable.
  package static let readsCoefficients: Bool = {
    #if DEBUG
      ProcessInfo.processInfo.environment["THUMBNAILER_READS_COEFFICIENTS"] == "1"
    #else
      true
    #endif
  }()

  /// Whether `start()` has succeeded; reading it does not start libvips.
  private static let hasStarted = Atomic(false)

  private static let startFailure: CodecError? = {
    guard cvips_init("thumbnailer") == 0 else { return .libraryUnavailable(detail: errorText()) }
    vips_concurrency_set(1)
    vips_cache_set_max(0)
    vips_block_untrusted_set(1)
    // Only JPEG XL's loader is unsafe; its saver gets our own pixels.
    vips_operation_block_set("VipsForeignSaveJxl", 0)
    // glibc's malloc raises this threshold by itself, and then keeps the tens of megabytes that a decoder frees. At its
    // initial value they return to the system: 75 instead of 100 MB after ten progressive JPEGs of 24 megapixels.
    cvips_set_mmap_threshold(128 << 10)
    // libvips warns on stderr about every unusual image; log these warnings instead.
    cvips_set_log_handler { message in
      guard let message else { return }
      let text = String(cString: message)
      Log.codec.debug("\(text)")
    }
    hasStarted.store(true, ordering: .releasing)
    return nil
  }()

  /// Frees what libvips keeps for the calling thread. To be called last on a thread that has rendered; has no effect on
  /// others.
  package static func threadWillEnd() {
    if hasStarted.load(ordering: .acquiring) { vips_thread_shutdown() }
  }

  /// The version of libvips, such as `8.14.1`.
  package static var version: String { String(cString: vips_version_string()) }

  /// Whether this libvips can write a format.
  package static func canWrite(_ format: ImageFormat) -> Bool { format.saverName.map(hasOperation) ?? false }

  static func hasOperation(_ name: String) -> Bool { vips_type_find("VipsOperation", name) != 0 }

  /// Takes libvips' error text, as one line. It may belong to another thread's image.
  static func errorText() -> String {
    guard let buffer = vips_error_buffer_copy() else { return "" }
    defer { g_free(buffer) }
    return String(cString: buffer).split(whereSeparator: \.isNewline).suffix(3).joined(separator: "; ")
  }
}
