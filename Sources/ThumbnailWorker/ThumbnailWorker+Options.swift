package import HTTPTransport
package import ThumbnailCore
import Thumbnailer

extension ThumbnailWorker {
  /// The thumbnails that a worker makes, and their destination.
  package struct Options: Sendable {
    /// The destination of the thumbnails, besides the pipeline's caches.
    package enum Destination: Sendable {
      /// None: the responses name the thumbnails in the caches.
      case cache
      /// Into the responses, in Base64.
      case inline
      /// Into files of a folder.
      case folder(RawPath)
      /// Into tar archives in WebDataset's layout, of `size` lines each.
      case shards(RawPath, size: Int)
    }

    /// The variants for lines that do not state their own. Not empty.
    package var variants: [Variant]
    /// The gravity if only the line requests `cover`. Default: the centre.
    package var gravity = Gravity.centre
    /// The destination of the thumbnails. Default: the caches alone.
    package var destination = Destination.cache
    /// Whether the responses also hold the whole files of URLs, in Base64. Default: false.
    package var givesOriginals = false
    /// Whether lines may name files of this machine. Default: true.
    package var allowsPaths = true
    /// The number of failed lines after which the worker ends. Default: none.
    package var failureLimit: FailureLimit?
    /// Header fields for the hosts of URLs; a line's own fields have precedence.
    package var headers = HostHeaders()
    /// How messages and addresses are shown.
    package var wording = WorkerWording()

    /// Makes these variants of each line's image.
    package init(variants: [Variant]) { self.variants = variants }
  }
}

/// The number of lines that may fail.
package enum FailureLimit: Sendable, Equatable {
  /// This many.
  case count(Int)
  /// This part of all responses, from 0 to 100, judged from a hundred responses on and at the end.
  case percent(Double)

  /// A percentage of failures is judged from this number of responses on.
  private static let fewestForPercentage = 100

  /// Whether this number of failures exceeds the limit.
  func isExceeded(by failures: Int, of responses: Int, isAtEnd: Bool) -> Bool {
    switch self {
    case .count(let most): failures > most
    case .percent(let most):
      (isAtEnd || responses >= Self.fewestForPercentage) && Double(failures) * 100 > most * Double(responses)
    }
  }
}

extension ThumbnailWorker {
  /// How a run ended.
  package enum Ending: Sendable, Equatable {
    /// The input has ended, and every line was responded to.
    case complete
    /// It was drained.
    case drained
    /// It was drained, or more lines failed than allowed, and the last responses were not read in time.
    case readerStalled
    /// More lines failed than allowed.
    case tooManyFailures
    /// The input cannot be read: the reason.
    case inputUnreadable(String)
    /// The responses cannot be written: the reason.
    case outputUnwritable(SystemFailure)
  }

  /// The result of a run.
  package struct Summary: Sendable, Equatable {
    /// Lines that were responded to.
    package var lines: Int { succeeded + failed + skipped }
    /// Lines with all their thumbnails.
    package internal(set) var succeeded = 0
    /// Lines without.
    package internal(set) var failed = 0
    /// Lines that were not tried.
    package internal(set) var skipped = 0
    /// Shards that have their name.
    package internal(set) var shards = 0
    /// Why a shard could not be given its name: its path, and the reason.
    package internal(set) var shardFailure: String?

    mutating func count(_ outcome: LineResponse.Outcome) {
      switch outcome {
      case .ok: succeeded += 1
      case .failed: failed += 1
      case .skipped: skipped += 1
      }
    }
  }
}
