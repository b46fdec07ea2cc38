// The module ImageCodec: turns the bytes of an image into thumbnails.

import CDav1d
import CDe265
import CJPEG
import CLazyLibraries
import CTIFF
import CVips
import CWebP
import Glibc
import Synchronization
package import ThumbnailCore

/// The process-wide state of libvips: initialisation, formats, and cleanup per thread.
package enum Codec {
  /// Initialises libvips once, from any thread. It takes about 50 ms, so nothing calls it before the first decode.
  ///
  /// libvips runs one thread per decode, because images are decoded in parallel. Its operation cache is off, because it
  /// would keep images alive. Operations that libvips marks as unsafe for untrusted data are blocked.
  package static func start() throws(CodecError) {
    if mayNotStart.load(ordering: .relaxed) { throw .needsLibvips }
    if let startFailure { throw startFailure }
  }

  /// Unblocks the loaders of libvips that are unsafe for untrusted bytes and that a helper needs; all others stay
  /// blocked.
  package static func unblockLoaders() {
    for name in ["Svg", "Pdf", "Jxl", "Jp2k", "Ppm", "Openexr", "Magick", "Rad"] {
      vips_operation_block_set("VipsForeignLoad\(name)", 0)
    }
  }

  /// Makes `start()` fail from now on, with `.needsLibvips`: for a process that cannot load libraries any more.
  package static func forbidStart() { mayNotStart.store(true, ordering: .relaxed) }

  private static let mayNotStart = Atomic(false)

  /// Returns heap memory that earlier decodes have freed to the system. Takes milliseconds.
  package static func returnFreeMemory() { cvips_return_free_memory() }

  /// Sets up malloc once, without starting libvips; to be read before the first decode.
  ///
  /// glibc raises this threshold by itself, and then keeps the tens of megabytes that a decoder frees. With the initial
  /// value, they return to the system: 75 instead of 100 MB after ten progressive JPEGs of 24 megapixels.
  private static let allocator: Void = cvips_set_mmap_threshold(128 << 10)

  /// See `allocator`. A program can set another threshold afterwards.
  package static func setUpAllocator() { _ = allocator }

  /// Whether `start()` has succeeded; reading it does not start libvips.
  private static let hasStarted = Atomic(false)

  private static let startFailure: CodecError? = {
    if let reason = clazy_load_vips() { return .libraryUnavailable(detail: String(cString: reason)) }
    guard cvips_init("thumbnailer") == 0 else { return .libraryUnavailable(detail: errorText()) }
    vips_concurrency_set(1)
    // libvips compiles vector code into memory that is writable and executable, which no helper may have. It is off in
    // all processes, so that the pixels are the same in all.
    vips_vector_set_enabled(0)
    vips_cache_set_max(0)
    vips_block_untrusted_set(1)
    // Only JPEG XL's loader is unsafe; its saver gets our own pixels.
    vips_operation_block_set("VipsForeignSaveJxl", 0)
    // libvips warns on stderr about every unusual image; log these warnings instead.
    cvips_set_log_handler { message in
      guard let message else { return }
      let text = String(cString: message)
      if text.contains("out of memory") { shortageCount.add(1, ordering: .relaxed) }
      Log.codec.debug("\(text)")
    }
    hasStarted.store(true, ordering: .releasing)
    return nil
  }()

  private static let shortageCount = Atomic(0)

  /// The number of times that libvips had no memory so far. Its line cache then continues with rows that it has not
  /// computed, and reports no error (8.14.1): only its log shows it.
  static var memoryShortages: Int { shortageCount.load(ordering: .relaxed) }

  /// Throws if libvips had no memory since `count`. It may have been for another thread's image, but two failures are
  /// better than one wrong image.
  static func checkMemory(since count: Int) throws(CodecError) {
    if memoryShortages != count { throw .outOfMemory }
  }

  /// Frees libvips' memory of the calling thread. Call it last on a thread that has rendered; it has no effect on
  /// others.
  package static func threadWillEnd() {
    if hasStarted.load(ordering: .acquiring) { vips_thread_shutdown() }
  }

  /// The version of libvips, such as `8.14.1`; nil if it cannot be loaded.
  package static var version: String? { clazy_load_vips() == nil ? String(cString: vips_version_string()) : nil }

  /// The version of libjpeg-turbo that this was built with, such as `2.1.5`.
  package static var jpegVersion: String { String(cString: cjpeg_version()) }

  /// The version of libwebp, such as `1.2.4`.
  package static var webPVersion: String {
    let number = WebPGetDecoderVersion()
    return "\(number >> 16).\(number >> 8 & 255).\(number & 255)"
  }

  /// The version of libtiff, such as `4.5.0`; nil if it cannot be loaded.
  package static var tiffVersion: String? {
    if clazy_load_tiff() != nil { return nil }
    // `LIBTIFF, Version 4.5.0`, and lines of copyright.
    return String(cString: TIFFGetVersion()).split(whereSeparator: \.isNewline).first?.split(separator: " ").last
      .map { String($0) }
  }

  /// The version of libde265, such as `1.0.11`; nil if it cannot be loaded.
  package static var de265Version: String? {
    clazy_load_de265() == nil ? String(cString: de265_get_version()) : nil
  }

  /// The version of dav1d, such as `1.0.0`; nil if it cannot be loaded.
  package static var dav1dVersion: String? { clazy_load_dav1d() == nil ? String(cString: dav1d_version()) : nil }

  /// Whether a format can be written: JPEG, PNG and WebP always, others if this libvips can. Starts libvips for those.
  package static func canWrite(_ format: ImageFormat) -> Bool {
    [.jpeg, .png, .webp].contains(format) || hasSaver(format)
  }

  /// Whether this libvips can write a format. Starts it.
  static func hasSaver(_ format: ImageFormat) -> Bool {
    (try? start()) != nil && format.saverName.map(hasOperation) ?? false
  }

  static func hasOperation(_ name: String) -> Bool { vips_type_find("VipsOperation", name) != 0 }

  /// Takes libvips' error text, as one line of at most a thousand characters. It may belong to another thread's image.
  static func errorText() -> String {
    guard let buffer = vips_error_buffer_copy() else { return "" }
    defer { g_free(buffer) }
    let lines = String(cString: buffer).split(whereSeparator: \.isNewline).suffix(3)
    return String(lines.joined(separator: "; ").prefix(1000))
  }
}
