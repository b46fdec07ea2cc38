import CJPEG
import Glibc
import ThumbnailCore

/// Owns libjpeg's state for one image, and reads the body for it.
final class JPEGDecompressor {
  let pointer: UnsafeMutablePointer<cjpeg_reader>
  private let body: BodyReader

  /// Reads the header. With `isTolerant`, missing data is filled with mid-grey.
  ///
  /// - Throws: `.truncated`, `.damaged(.header, …)`, `.unreadableBody`, `.outOfMemory`.
  init(_ body: BodyReader, isTolerant: Bool) throws(CodecError) {
    let reader = cjpeg_reader_new(
      { user, buffer, length in
        // libjpeg passes back the given pointer, which is never null.
        Unmanaged<BodyReader>.fromOpaque(user.unsafelyUnwrapped).takeUnretainedValue().read(buffer, length)
      }, Unmanaged.passUnretained(body).toOpaque(), isTolerant ? 0 : 1)
    guard let reader else { throw .outOfMemory }
    (pointer, self.body) = (reader, body)
    guard cjpeg_read_header(reader) == 0 else { throw failure(.header) }
  }

  deinit { cjpeg_reader_free(pointer) }

  var size: PixelSize { PixelSize(Int(pointer.pointee.info.image_width), Int(pointer.pointee.info.image_height)) }
  /// The size of the rows of RGB, once decoding has begun.
  var outputSize: PixelSize {
    PixelSize(Int(pointer.pointee.info.output_width), Int(pointer.pointee.info.output_height))
  }
  var space: J_COLOR_SPACE { pointer.pointee.info.jpeg_color_space }

  /// Whether libjpeg has found damage in the coded data, which it hides.
  var hasWarnings: Bool { cjpeg_warnings(pointer) > 0 }

  /// The planes, once decoding has begun.
  var planes: [RowLayout.Plane] {
    (0..<pointer.pointee.info.num_components).map { index in
      RowLayout.Plane(
        size: PixelSize(Int(cjpeg_samples_across(pointer, index)), Int(cjpeg_samples_down(pointer, index))),
        channels: 1,
        extent: PixelExtent(width: cjpeg_extent_across(pointer, index), height: cjpeg_extent_down(pointer, index)),
        upsampling: PixelSize(
          cjpeg_halves_across(pointer, index) == 0 ? 1 : 2, cjpeg_halves_down(pointer, index) == 0 ? 1 : 2))
    }
  }

  /// Why the last call has failed.
  func failure(_ stage: CodecError.Stage) -> CodecError {
    if cjpeg_lacks_memory(&pointer.pointee.errors) != 0 { return .outOfMemory }
    let message = withUnsafeBytes(of: pointer.pointee.errors.message) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    if cjpeg_is_unsupported(&pointer.pointee.errors) != 0 { return .unsupported("a JPEG of this kind (\(message))") }
    if body.failedToRead { return .unreadableBody(detail: message) }
    return pointer.pointee.ran_dry != 0 ? .truncated(detail: message) : .damaged(stage, detail: message)
  }
}
