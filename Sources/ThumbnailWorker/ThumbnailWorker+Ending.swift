extension ThumbnailWorker {
  /// How a run ended.
  public enum Ending: Sendable, Equatable {
    /// The input has ended, and every line was responded to.
    case complete
    /// It was told to drain.
    case drained
    /// It was told to drain, or more lines failed than allowed, and nobody read the last responses in time.
    case readerStalled
    /// More lines failed than allowed.
    case tooManyFailures
    /// The input cannot be read: the reason.
    case inputUnreadable(String)
    /// The reader of the responses has gone.
    case readerGone
    /// The responses cannot be written: the reason.
    case outputUnwritable(String)
  }

  /// What a run came to.
  public struct Summary: Sendable, Equatable {
    /// Lines that were responded to.
    public var lines: Int { succeeded + failed + skipped }
    /// Lines with all their thumbnails.
    public internal(set) var succeeded = 0
    /// Lines without.
    public internal(set) var failed = 0
    /// Lines that were not tried.
    public internal(set) var skipped = 0
    /// Shards that have their name.
    public internal(set) var shards = 0
    /// Why a shard could not be given its name: its path, and the reason.
    public internal(set) var shardFailure: String?

    mutating func count(_ outcome: LineResponse.Outcome) {
      switch outcome {
      case .ok: succeeded += 1
      case .failed: failed += 1
      case .skipped: skipped += 1
      }
    }
  }
}
