public import Foundation
public import ThumbnailCore

/// Which pictures are decoded in a process of their own, a helper, and what that process may take.
///
/// Known files of some formats end or hang the process that decodes them. In a helper that costs one picture: it gets an
/// error, and the next one a new helper. There is at most one helper for each decode at once; it starts when it is first
/// needed, which takes about a tenth of a second, serves one picture after the other, and ends with the pipeline.
///
///     configuration.isolation = .helper(executable: URL(fileURLWithPath: "/usr/local/bin/thumbs"))
public struct DecodeIsolation: Sendable, Equatable {
  /// What goes to the helper.
  public enum Formats: String, Sendable, CaseIterable {
    /// The formats that are not decoded in process: SVG, PDF, JPEG XL, JPEG 2000, OpenEXR, PNM, BMP, ICO and Radiance.
    case unsafeOnly
    /// Every format.
    case all
  }

  /// Whose pictures may be of an unsafe format.
  public enum UnsafeSources: String, Sendable, CaseIterable {
    /// Nobody's: the unsafe formats are refused, wherever they come from.
    case none
    /// Only local files that the user named, or whose folder the user named.
    case userFiles
    /// The web's too.
    case anywhere
  }

  /// The program that is started as a helper: `thumbs`, or any whose first act is `DecodeHelper.serveIfAsked()`, of this
  /// version. Nil decodes everything in process and refuses the unsafe formats. Default: nil.
  public var executable: URL?
  /// What goes to the helper. Default: the unsafe formats only.
  public var formats = Formats.unsafeOnly
  /// Whose pictures may be of an unsafe format. Default: the user's own files.
  public var unsafeSources = UnsafeSources.userFiles
  /// How much memory each helper may take beyond the program itself. It counts beside `memoryBudget`, where a picture in
  /// a helper takes only the room for its thumbnails, unless a cgroup leaves no room beside it: then it is taken from the
  /// budget. At least 64 MiB. Default: 1 GiB, or half of what the cgroup or the machine has if that is less.
  public var memoryLimit = ByteSize(bytes: max(64 << 20, min(standardMemory, (MachineMemory.limit() ?? .max) / 2)))
  /// What a helper may take where there is enough memory: 1 GiB.
  package static let standardMemory = 1 << 30
  /// How long a helper may work on one picture before it is ended; cancelling ends it at once. At least 0.1 s.
  /// Default: 20 s.
  public var deadline = Duration.seconds(20)

  /// No helper: the unsafe formats are refused.
  public static let none = DecodeIsolation()

  /// Sends the unsafe formats, or all, to a helper.
  ///
  /// - Parameters:
  ///   - executable: `thumbs`, or a program whose first act is `DecodeHelper.serveIfAsked()`.
  ///   - formats: What goes there.
  public static func helper(executable: URL, formats: Formats = .unsafeOnly) -> DecodeIsolation {
    DecodeIsolation(executable: executable, formats: formats)
  }

  /// Whether a picture of an unsafe format goes to the helper, or is refused.
  package func admitsUnsafe(isUserFile: Bool) -> Bool {
    executable != nil && (unsafeSources == .anywhere || unsafeSources == .userFiles && isUserFile)
  }

  /// What is wrong with the values, in words that say what to do; nil when they are fine.
  package var problem: String? {
    if memoryLimit.bytes < 64 << 20 || memoryLimit.bytes > 1 << 46 {
      return "the helper's memory limit must be from 64 MiB to 64 TiB"
    }
    if deadline < .milliseconds(100) || deadline > .seconds(86_400) {
      return "the helper's deadline must be from 0.1 s to a day"
    }
    return nil
  }
}
