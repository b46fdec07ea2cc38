// The module DecodeSandbox: decodes in confined helper processes.

public import FoundationEssentials
public import ThumbnailCore

/// The process that decodes images, the sources that may have an unsafe format, and the resources of a decode.
///
/// An image may crash or hang the process that decodes it, or run its author's code there. In a helper process this
/// costs one image: it fails, and the next one gets a new helper. Code that has taken over a helper can only return
/// wrong pixels. Helpers start when they are first needed, serve one image after the other, and end with the pipeline.
///
/// A helper is the program `thumbs-decode`, a product of this package; `DecodeHelper.program` finds it.
public struct DecodeIsolation: Sendable, Equatable {
  /// The sources that may have an unsafe format.
  public enum UnsafeSources: String, Sendable, CaseIterable {
    /// None: the unsafe formats are refused for every source.
    case none
    /// Only local files that the user named, or files in a folder that the user named.
    case userFiles
    /// Sources from the web too.
    case anywhere
  }

  /// Whether everything is decoded in the pipeline's own process, and the unsafe formats are refused: SVG, PDF, JPEG XL,
  /// JPEG 2000, OpenEXR, PNM, BMP, ICO and Radiance. Default: false.
  package var isInProcess = false
  /// The program to start as a helper, of this version: `thumbs-decode`, or any whose first act is
  /// `DecodeHelper.serveIfAsked()`. Default: nil, for `DecodeHelper.program`.
  package var executable: URL?
  /// The sources that may have an unsafe format. Default: the user's own files.
  public var unsafeSources = UnsafeSources.userFiles
  /// The most memory of each helper, in addition to the program itself. The predicted memory of a decode is reserved
  /// from `memoryBudget` in any process. The memory of an unsafe format cannot be predicted: it is taken in addition to
  /// the budget, or from it if a cgroup has no room for both. At least 64 MiB. Default: 1 GiB, or five eighths of the
  /// memory of the cgroup or the machine if that is less.
  public var memoryLimit = usualMemory
  /// The default limit. Found once, as it takes half a millisecond to read what the cgroups allow.
  private static let usualMemory = ByteSize(
    bytes: max(64 << 20, min(standardMemory, (MachineMemory.limit() ?? .max) / 8 * 5)))
  /// A helper's memory limit if there is enough memory: 1 GiB.
  package static let standardMemory = 1 << 30
  /// The time after which a helper that works on one image is killed; cancellation kills it at once. At least 0.1 s.
  /// Default: 20 s.
  public var deadline = Duration.seconds(20)
  /// Whether a machine that cannot confine its helpers is refused: without a filter of system calls or without
  /// Landlock, code that has taken over a decoder can read all files of its user. Default: false, because an unconfined
  /// helper still protects from crashes.
  public var requiresConfinement = false

  /// Everything in a helper, with the defaults above.
  public init() {}

  /// No helper: a broken decoder is in the program itself, and the unsafe formats are refused.
  public static var inProcess: DecodeIsolation {
    var isolation = DecodeIsolation()
    isolation.isInProcess = true
    return isolation
  }

  /// Everything in a helper, which is the program at this place.
  public static func helper(executable: URL) -> DecodeIsolation {
    var isolation = DecodeIsolation()
    isolation.executable = executable
    return isolation
  }

  /// Whether an image of an unsafe format is decoded; false if it is refused.
  package func admitsUnsafe(isUserFile: Bool) -> Bool {
    !isInProcess && (unsafeSources == .anywhere || unsafeSources == .userFiles && isUserFile)
  }

  /// A message that says which value is invalid and what to do; nil if all are valid.
  package var problem: String? {
    if memoryLimit.bytes < 64 << 20 || memoryLimit.bytes > 1 << 46 {
      return "the helper's memory limit must be from 64 MiB to 64 TiB"
    }
    if deadline < .milliseconds(100) || deadline > .seconds(86_400) {
      return "the helper's deadline must be from 0.1 s to a day"
    }
    if isInProcess { return nil }
    if requiresConfinement, let gap = Self.gapsOfThisMachine.first {
      return "\(gap): use another kernel, or do not require it (isolation.requiresConfinement)"
    }
    return executable == nil && DecodeHelper.program == nil ? DecodeHelper.absence : nil
  }
}
