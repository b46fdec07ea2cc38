import Foundation
import Testing

/// An example of the documentation that is code of a test: what stands between `// NAME begins` and `// NAME ends` in the
/// test's file.
struct Snippet {
  /// The code, without the indentation of its marks.
  let code: String

  init(_ name: String, in file: String = #filePath) throws {
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let begin = try #require(lines.firstIndex { $0.hasSuffix("// \(name) begins") })
    let end = try #require(lines.firstIndex { $0.hasSuffix("// \(name) ends") })
    let indentation = lines[begin].prefix { $0 == " " }
    code =
      lines[(begin + 1)..<end]
      .map { $0.hasPrefix(indentation) ? String($0.dropFirst(indentation.count)) : String($0) }
      .joined(separator: "\n") + "\n"
  }

  /// The number of lines.
  var lineCount: Int { code.split(separator: "\n", omittingEmptySubsequences: false).count - 1 }

  /// Whether a page of the documentation has it as its own block of code, after `preamble`.
  func isShown(in page: String, after preamble: String = "") throws -> Bool {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
    return text.contains("```swift\n" + preamble + code + "```\n")
  }
}
