// The module DecodeSandbox: decodes in helper processes that can do nothing else.

public import Foundation
public import ThumbnailCore

/// Which images are decoded in a separate process, a helper, and which resources it may use.
///
/// Known files of some formats crash or hang the process that decodes them. In a helper this costs one image: it fails,
/// and the next one gets a new helper. What has broken a decoder there can do nothing but return wrong pixels. There
/// are at most two helpers per concurrent decode: one for JPEG, PNG and WebP, which takes a fortieth of a second to
/// start, and one for all other formats, which takes a tenth. They start when they are first needed, serve one image
/// after the other, and end with the pipeline.
///
///     configuration.isolation = .helper(executable: URL(fileURLWithPath: "/usr/local/bin/thumbs"))
public struct DecodeIsolation: Sendable, Equatable {
  /// Which formats the helper decodes.
  public enum Formats: String, Sendable, CaseIterable {
    /// The formats that are not decoded in process: SVG, PDF, JPEG XL, JPEG 2000, OpenEXR, PNM, BMP, ICO and Radiance.
    case unsafeOnly
    /// Those, and of all sources but the user's own files whatever a library in C would decode: everything but JPEGs
    /// that are reduced far, and GIFs, whose readers are written in Swift.
    case web
    /// Every format.
    case all
  }

  /// Which sources may be of an unsafe format.
  public enum UnsafeSources: String, Sendable, CaseIterable {
    /// None: the unsafe formats are refused for every source.
    case none
    /// Only local files that the user named, or files in a folder that the user named.
    case userFiles
    /// Sources from the web too.
    case anywhere
  }

  /// The program to start as a helper: `thumbs`, or any whose first act is `DecodeHelper.serveIfAsked()`, of this
  /// version. Nil decodes everything in process and refuses the unsafe formats. Default: nil.
  public var executable: URL?
  /// Which formats the helper decodes. Default: the unsafe formats, and what comes from the web.
  public var formats = Formats.web
  /// Which sources may be of an unsafe format. Default: the user's own files.
  public var unsafeSources = UnsafeSources.userFiles
  /// How much memory each helper may take beyond the program itself. It is separate from `memoryBudget`, of which a
  /// decode in a helper reserves only the bytes of its thumbnails; if a cgroup leaves no room for both, it is taken
  /// from the budget. At least 64 MiB. Default: 1 GiB, or half of what the cgroup or the machine has if that is less.
  public var memoryLimit = ByteSize(bytes: max(64 << 20, min(standardMemory, (MachineMemory.limit() ?? .max) / 2)))
  /// A helper's memory limit where there is enough memory: 1 GiB.
  package static let standardMemory = 1 << 30
  /// How long a helper may work on one image before it is killed; cancellation kills it at once. At least 0.1 s.
  /// Default: 20 s.
  public var deadline = Duration.seconds(20)
  /// Whether a machine that cannot confine its helpers is refused: without a filter of system calls or without
  /// Landlock, what has broken a decoder may read what its user may read. Default: false, as a helper without walls
  /// still protects from crashes.
  public var requiresConfinement = false

  /// No helper: the unsafe formats are refused.
  public static let none = DecodeIsolation()

  /// Decodes some formats, or all, in a helper.
  ///
  /// - Parameters:
  ///   - executable: `thumbs`, or a program whose first act is `DecodeHelper.serveIfAsked()`.
  ///   - formats: Which formats the helper decodes.
  public static func helper(executable: URL, formats: Formats = .web) -> DecodeIsolation {
    DecodeIsolation(executable: executable, formats: formats)
  }

  /// Whether an image of an unsafe format goes to the helper; false if it is refused.
  package func admitsUnsafe(isUserFile: Bool) -> Bool {
    executable != nil && (unsafeSources == .anywhere || unsafeSources == .userFiles && isUserFile)
  }

  /// Whether a library must not see this image in the pipeline's own process.
  package func distrusts(isUserFile: Bool) -> Bool { executable != nil && formats == .web && !isUserFile }

  /// A message that says which value is invalid and what to do; nil if all are valid.
  package var problem: String? {
    if memoryLimit.bytes < 64 << 20 || memoryLimit.bytes > 1 << 46 {
      return "the helper's memory limit must be from 64 MiB to 64 TiB"
    }
    if deadline < .milliseconds(100) || deadline > .seconds(86_400) {
      return "the helper's deadline must be from 0.1 s to a day"
    }
    if requiresConfinement, executable != nil, let gap = Self.gapsOfThisMachine.first {
      return "\(gap): use another kernel, or do not require it (isolation.requiresConfinement)"
    }
    return nil
  }
}
