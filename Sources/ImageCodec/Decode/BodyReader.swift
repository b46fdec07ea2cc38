import CVips
import Glibc
import ThumbnailCore

/// Serves a body to libvips through a `VipsSource`.
///
/// Reads are positioned, so they never touch a descriptor's own offset, which other threads may share. Every read
/// checks for cancellation, so a decoder that streams its file stops soon.
///
/// libvips calls it from its worker threads, one at a time, and keeps a reference as long as the source exists.
final class BodyReader {
  private let body: ByteSource
  private let cancellation: CancellationFlag
  /// Bytes served to the decoder after the body's last byte.
  private let ending: [UInt8]
  /// Whether `ending` has any bytes.
  var addsEnding: Bool { !ending.isEmpty }
  private var position = 0
  /// Whether the decoder read at the end of the body. After a failure this shows that the file is truncated.
  private(set) var ranDry = false
  /// Whether the decoder got fewer bytes than it requested. libtiff requests exactly what it needs; others do not.
  private(set) var ranShort = false
  /// Whether reading the body's file failed.
  private(set) var failedToRead = false
  /// Whether unreadable bytes become zeros: libheif ends the process when a read within the file fails.
  private var fillsFailures = false

  init(_ body: ByteSource, ending: [UInt8] = [], cancellation: CancellationFlag) {
    self.body = body
    self.ending = ending
    self.cancellation = cancellation
  }

  /// Runs `call` with a source of this body. Objects that `call` creates retain the source.
  func withSource<Result>(
    _ call: (UnsafeMutablePointer<VipsSource>) throws(CodecError) -> Result
  ) throws(CodecError) -> Result {
    let user = Unmanaged.passRetained(self).toOpaque()
    let source = cvips_source_new(
      { _, buffer, length, user in BodyReader.from(user).read(buffer, Int(length)) },
      { _, offset, whence, user in BodyReader.from(user).seek(Int(offset), whence) },
      user,
      { user, _ in BodyReader.release(user) })
    guard let source else {
      Unmanaged<BodyReader>.fromOpaque(user).release()
      throw .damaged(.header, detail: Codec.errorText())
    }
    defer { g_object_unref(source) }
    return try call(source)
  }

  /// A part of the file to load other than its first image at full size.
  enum LoaderOption {
    /// libjpeg computes one pixel for a square of this side.
    case shrink(Int)
    case scale(Double)
    /// One page of several, from 0.
    case page(Int)
    /// All frames, stacked vertically.
    case allFrames
  }

  /// Opens the image with the loader of its format. It reads the header; pixels are decoded when they are read.
  func load(
    _ format: ImageFormat, _ failOn: VipsFailOn, option: LoaderOption? = nil
  ) throws(CodecError) -> LibvipsImage {
    try Codec.start()
    let loader = format.loaderName
    guard Codec.hasOperation(loader) else { throw .decoderUnavailable(format) }
    fillsFailures = format == .heif || format == .avif
    return try withSource { source throws(CodecError) in
      try LibvipsImage.make(.header) { out in
        switch option {
        case nil: cvips_load(loader, source, out, failOn, nil, 0)
        case .shrink(let factor): cvips_load(loader, source, out, failOn, "shrink", Int32(factor))
        case .page(let page): cvips_load(loader, source, out, failOn, "page", Int32(page))
        case .allFrames: cvips_load(loader, source, out, failOn, "n", -1)
        case .scale(let scale): cvips_load_scaled(loader, source, out, failOn, scale)
        }
      }
    }
  }

  // Safety: `user` is the reference that `withSource` retained and that `release` balances, once each.
  private static func from(_ user: UnsafeMutableRawPointer?) -> BodyReader {
    // GLib passes back the given pointer, which is never null.
    Unmanaged<BodyReader>.fromOpaque(user.unsafelyUnwrapped).takeUnretainedValue()
  }

  private static func release(_ user: UnsafeMutableRawPointer?) {
    if let user { Unmanaged<BodyReader>.fromOpaque(user).release() }
  }

  /// Copies the next bytes for a decoder: 0 at the end, −1 after an error or when cancelled.
  func read(_ buffer: UnsafeMutableRawPointer?, _ length: Int) -> Int {
    guard let buffer else { return -1 }
    let wanted = max(0, min(length, body.count - position))
    if cancellation.isSet { return fill(buffer, wanted) }
    ranShort = ranShort || wanted < length
    if wanted == 0 {
      ranDry = ranDry || length > 0
      let rest = ending.dropFirst(max(0, position - body.count)).prefix(length)
      UnsafeMutableRawBufferPointer(start: buffer, count: rest.count).copyBytes(from: rest)
      position += rest.count
      return rest.count
    }
    do {
      let count = try body.read(at: position, into: UnsafeMutableRawBufferPointer(start: buffer, count: wanted))
      position += count
      return count
    } catch {
      failedToRead = true
      return fill(buffer, wanted)
    }
  }

  /// The result of a failed read: −1, or zeros for libheif. `checkReads()` reports the failure.
  private func fill(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    guard fillsFailures else { return -1 }
    memset(buffer, 0, count)
    position += count
    return count
  }

  /// Throws if something was served that is not in the file.
  func checkReads() throws(CodecError) {
    if cancellation.isSet { throw .cancelled }
    if failedToRead { throw .unreadableBody(detail: "its file could not be read to the end") }
  }

  private func seek(_ offset: Int, _ whence: Int32) -> Int {
    let start =
      switch whence {
      case SEEK_CUR: position
      case SEEK_END: body.count + ending.count
      default: 0
      }
    let (target, overflow) = start.addingReportingOverflow(offset)
    guard !overflow, target >= 0 else { return -1 }
    position = target
    return target
  }
}
