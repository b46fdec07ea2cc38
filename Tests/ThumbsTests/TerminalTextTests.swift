import Foundation
import Testing

/// Names of files and pictures, which strangers choose, on a terminal.
@Suite(.timeLimit(.minutes(5))) struct TerminalTextTests {
  /// Clears a screen, in two ways, and turns the direction of what follows.
  private static let name = "\u{1B}[2J\u{202E}\u{9B}31m.jpg"
  private let bench: Bench

  init() throws {
    bench = try Bench()
    let folder = try bench.folder("pictures", pictures: 1)
    try Data("no picture".utf8).write(to: folder.appendingPathComponent(Self.name))
  }

  @Test(arguments: [
    "convert pictures --output small", "prefetch --query  --provider folder:pictures --verbose",
    "search --query  --provider folder:pictures", "get pictures/\(name) --output small.jpg",
  ])
  func aNameNeitherMovesTheCursorNorTurnsTheText(_ line: String) async throws {
    let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    let run = try await bench.start(words).run()
    let text = (run.lines + run.complaints).joined()
    #expect(text.contains("31m.jpg"), "\(text)")
    let unfit = text.unicodeScalars.filter { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) || $0 == "\u{202E}" }
    #expect(unfit.isEmpty, "\(unfit.map(\.value))")
  }
}
