/// The scrolls that a grid is measured with. Each begins with the first screen at rest.
extension ScrollTrace {
  /// How long the first screen is looked at, in seconds.
  private static let firstLook = 2.0

  /// Goes down evenly for some seconds. `rowPitch` is a row's height with its spacing, in points.
  public static func steady(rowsPerSecond: Double, seconds: Double = 20, rowPitch: Double) -> ScrollTrace {
    ScrollTrace(moves: [(firstLook, 0), (seconds, rowsPerSecond * seconds * rowPitch)])
  }

  /// Goes down at 20 rows a second for 2 s, and rests where it is.
  public static func fling(rowPitch: Double) -> ScrollTrace {
    ScrollTrace(moves: [(firstLook, 0), (2, 40 * rowPitch), (4, 0)])
  }

  /// Goes four times 24 rows down and 16 up again, at 4 rows a second, and at last down to the farthest row once more.
  public static func backAndForth(rowPitch: Double) -> ScrollTrace {
    let swing = [(6.0, 24 * rowPitch), (4.0, -16 * rowPitch)]
    return ScrollTrace(
      moves: [(firstLook, 0)] + Array(repeating: swing, count: 4).joined() + [(4, 16 * rowPitch), (1, 0)])
  }

  /// Goes down at 3 rows a second for 2 s, jumps to row 1,000, and rests there.
  public static func jump(rowPitch: Double) -> ScrollTrace {
    ScrollTrace(moves: [(firstLook, 0), (2, 6 * rowPitch), (0, 994 * rowPitch), (4, 0)])
  }

  /// Which scroll is meant, as people write it.
  public enum Specification: Sendable, Hashable {
    /// `steady:3`: so many rows a second.
    case steady(rowsPerSecond: Double)
    /// `fling`.
    case fling
    /// `back-and-forth`.
    case backAndForth
    /// `jump`.
    case jump
    /// Anything else: the path of a file that `init(parsing:)` reads.
    case file(path: String)

    /// Reads `steady:ROWS_PER_S`, `fling`, `back-and-forth`, `jump` or a path.
    ///
    /// - Throws: `ThumbnailError.invalidRequest` for a speed that is no positive number, and for an empty text.
    public init(parsing text: String) throws(ThumbnailError) {
      switch text {
      case "fling": self = .fling
      case "back-and-forth": self = .backAndForth
      case "jump": self = .jump
      case "": throw .invalidRequest(reason: Self.help)
      case _ where text == "steady" || text.hasPrefix("steady:"):
        guard let speed = Double(text.dropFirst("steady:".count)), speed > 0, speed <= 10_000 else {
          throw .invalidRequest(reason: "\(text) names no speed; \(Self.help)")
        }
        self = .steady(rowsPerSecond: speed)
      default: self = .file(path: text)
      }
    }

    private static let help =
      "say steady:ROWS_PER_SECOND, such as steady:3, fling, back-and-forth, jump, or a file of SECONDS OFFSET lines"

    /// The scroll in a grid whose rows follow each other at `rowPitch` points; nil for a file, which is the caller's to
    /// read.
    public func trace(rowPitch: Double) -> ScrollTrace? {
      switch self {
      case .steady(let speed): .steady(rowsPerSecond: speed, rowPitch: rowPitch)
      case .fling: .fling(rowPitch: rowPitch)
      case .backAndForth: .backAndForth(rowPitch: rowPitch)
      case .jump: .jump(rowPitch: rowPitch)
      case .file: nil
      }
    }
  }
}
