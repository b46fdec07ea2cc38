import Glibc
import ImageCodec
import ThumbnailCore

/// The formats that a helper can decode, which determine how long its zygote takes to start.
enum HelperKind: String, Sendable, CaseIterable, Comparable {
  /// JPEG (also those of RAW files), PNG, WebP and GIF in standard colours, with the libraries that the program is linked
  /// to. It reads no file but the image.
  case common
  /// TIFF, HEIF and AVIF, too, with the libraries for these.
  case extended
  /// Every format, with libvips and the hundred libraries behind it: it takes seven times as long to start.
  case full

  /// The kind that decodes an image, as far as its header shows.
  init(for probe: ImageProbe, _ variants: [Variant]) {
    let needsLibvips = variants.contains { variant in
      variant.metadata != .none || variant.mostFrames(of: probe) > 1
        || variant.searchesContent
        || variant.format == .same && ![.jpeg, .png, .webp, .raw].contains(probe.format)
    }
    self =
      switch probe.format {
      case .jpeg, .png, .webp, .gif, .raw: needsLibvips ? .full : .common
      case .tiff, .heif, .avif: needsLibvips ? .full : .extended
      default: .full
      }
  }

  /// Each kind also decodes the formats of the earlier ones.
  static func < (one: HelperKind, other: HelperKind) -> Bool {
    allCases.firstIndex(of: one) ?? 0 < allCases.firstIndex(of: other) ?? 0
  }
}

/// The executable of a pipeline's helpers: opened with the pipeline, so that all have its version, even if another one
/// is installed meanwhile.
final class HelperProgram: Sendable {
  /// Its path; empty if there is none.
  let path: String
  private let opened: Result<FileDescriptor, SystemFailure>

  init(_ isolation: DecodeIsolation) {
    path = Self.path(isolation)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    opened = descriptor < 0 ? .failure(.last) : .success(FileDescriptor(owning: descriptor))
  }

  /// The path of the executable for a configuration.
  static func path(_ isolation: DecodeIsolation) -> String {
    (isolation.executable ?? DecodeHelper.program)?.path ?? ""
  }

  /// The open executable, which stays open as long as this object lives.
  func file() throws(HelperFailure) -> FileDescriptor {
    if path.isEmpty { throw .cannotStart(detail: DecodeHelper.absence) }
    do throws(SystemFailure) {
      return try opened.get()
    } catch {
      throw .cannotStart(detail: "\(path): \(error.reason)")
    }
  }
}
