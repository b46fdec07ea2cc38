import CLazyLibraries
import CTIFF
import Glibc
import ThumbnailCore

/// Owns libtiff's handle of a body, and reads the bytes for it. One thread at a time may use it.
final class TIFFFile {
  /// Valid as long as this object lives.
  let handle: OpaquePointer
  private let reader: Reader
  private let damages = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

  /// Opens the first directory of a file. libtiff allocates at most `mostBytes` at once.
  init(_ body: ByteSource, mostBytes: Int) throws(CodecError) {
    if let reason = clazy_load_tiff() { throw .handedOver(reason: String(cString: reason)) }
    let reader = Reader(body)
    // libtiff calls back only while this object, which owns the reader, lives: its handle is closed in `deinit`.
    let user = Unmanaged.passUnretained(reader).toOpaque()
    damages.initialize(to: 0)
    let opened = ctiff_open(
      user, damages,
      { user, buffer, length in tmsize_t(Reader.from(user)?.read(buffer, Int(length)) ?? -1) },
      { user, offset, whence in Reader.from(user)?.seek(offset, whence) ?? .max },
      { user in UInt64(Reader.from(user)?.body.count ?? 0) },
      tmsize_t(mostBytes))
    guard let opened else {
      damages.deallocate()
      throw reader.failure(.header, "libtiff cannot open it")
    }
    (handle, self.reader) = (opened, reader)
  }

  deinit {
    TIFFClose(handle)
    damages.deallocate()
  }

  /// Throws if the JPEG data that were read are damaged.
  func checkCodes() throws(CodecError) {
    if damages.pointee > 0 { throw .damaged(.decode, detail: "the coded data make no sense") }
  }

  /// Has libtiff convert a JPEG's colours to RGB as it decodes.
  func convertColours() { _ = ctiff_convert_colours(handle) }

  /// The value of a tag with one number of 16 bits; -1 if it is missing and has no default.
  func number(_ tag: Int32) -> Int { Int(ctiff_number16(handle, UInt32(tag))) }

  /// The value of a tag with one number of 32 bits; -1 if it is missing and has no default.
  func longNumber(_ tag: Int32) -> Int { Int(ctiff_number32(handle, UInt32(tag))) }

  /// The red, green and blue of 256 indices, 16 bits each; nil if there is no palette.
  var palette: [[UInt16]]? {
    var (red, green, blue):
      (UnsafeMutablePointer<UInt16>?, UnsafeMutablePointer<UInt16>?, UnsafeMutablePointer<UInt16>?)
    guard number(TIFFTAG_BITSPERSAMPLE) == 8, ctiff_palette(handle, &red, &green, &blue) == 1, let red, let green,
      let blue
    else { return nil }
    // libtiff has as many values as samples of 8 bits have.
    return [red, green, blue].map { Array(UnsafeMutableBufferPointer(start: $0, count: 256)) }
  }

  /// The weights of luma; JFIF's if the file has no valid ones.
  var lumaWeights: LumaWeights {
    var weights: UnsafeMutablePointer<Float>?
    guard ctiff_luma_weights(handle, &weights) == 1, let weights else { return .jfif }
    let found = LumaWeights(red: Double(weights[0]), blue: Double(weights[2]))
    return found.red > 0 && found.blue > 0 && found.red + found.blue < 1 ? found : .jfif
  }

  var profile: [UInt8]? {
    var (length, bytes): (UInt32, UnsafeMutableRawPointer?) = (0, nil)
    guard ctiff_profile(handle, &length, &bytes) == 1, let bytes, length > 0 else { return nil }
    return Array(UnsafeRawBufferPointer(start: bytes, count: Int(length)))
  }

  /// The error after libtiff has failed to read pixels.
  func failure(_ detail: String) -> CodecError { reader.failure(.decode, detail) }
}

extension TIFFFile {
  /// The position of libtiff in a body, and the reason for a short read.
  private final class Reader {
    let body: ByteSource
    private var position = 0
    private var ranShort = false
    private var readError: String?

    init(_ body: ByteSource) { self.body = body }

    static func from(_ user: UnsafeMutableRawPointer?) -> Reader? {
      user.map { Unmanaged<Reader>.fromOpaque($0).takeUnretainedValue() }
    }

    /// libtiff's buffer has room for `length` bytes.
    func read(_ buffer: UnsafeMutableRawPointer?, _ length: Int) -> Int {
      guard let buffer, length >= 0 else { return -1 }
      do {
        let got = try body.read(at: position, into: UnsafeMutableRawBufferPointer(start: buffer, count: length))
        position += got
        if got < length { ranShort = true }
        return got
      } catch {
        readError = "\(error)"
        return -1
      }
    }

    /// Returns the new position, or the greatest number for an invalid one.
    func seek(_ offset: UInt64, _ whence: Int32) -> UInt64 {
      let base = whence == SEEK_CUR ? position : whence == SEEK_END ? body.count : 0
      let (place, overflow) = base.addingReportingOverflow(Int(truncatingIfNeeded: offset))
      // Far beyond any file, so that adding to it does not overflow.
      guard !overflow, (0...1 << 56).contains(place) else { return .max }
      position = place
      return UInt64(place)
    }

    func failure(_ stage: CodecError.Stage, _ detail: String) -> CodecError {
      if let readError { return .unreadableBody(detail: readError) }
      return ranShort ? .truncated(detail: detail) : .damaged(stage, detail: detail)
    }
  }
}
