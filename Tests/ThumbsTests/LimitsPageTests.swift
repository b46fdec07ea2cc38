import DecodeSandbox
import Foundation
import TestSupport
import Testing
import ThumbnailCore
import Thumbnailer

/// The table in docs/limits.md: each row as the source, the library's properties and the command's help say.
@Suite(.timeLimit(.minutes(5))) struct LimitsPageTests {
  /// A row of the table.
  private struct Row {
    let name: String
    let value: String
    let option: String
    let property: String
    /// `File.name = value`, as in the source.
    let declaration: String

    init?(_ line: Substring) {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 6, cells[5].hasPrefix("`") else { return nil }
      (name, value) = (cells[0], cells[1])
      (option, property, declaration) = (cells[2].unquoted, cells[3].unquoted, cells[5].unquoted)
    }
  }

  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private let rows: [Row]

  init() throws {
    let page = try String(contentsOf: Self.root.appending(path: "docs/limits.md"), encoding: .utf8)
    rows = page.split(separator: "\n").compactMap { Row($0) }
    #expect(rows.count > 50)
  }

  @Test func eachDefaultIsThatOfTheSource() throws {
    let sources = try sourceFiles()
    for row in rows {
      let parts = try #require(row.declaration.split(" = "), "\(row.declaration)")
      let (file, name) = try #require(parts.0.split("."))
      let text = try #require(sources[file], "there is no \(file).swift")
      let value = NSRegularExpression.escapedPattern(for: parts.1)
      let declaration = try Regex("\\b\(name)(: \\w+)? = \(value)(?![\\w<*])")
      let isDeclared = text.contains(declaration)
      #expect(isDeclared, "\(row.declaration)")
      if let number = Self.number(parts.1) { #expect(Self.quantity(row.value) == number, "\(row.name): \(row.value)") }
    }
  }

  @Test func eachPropertyHasItsDefaultAndNoneIsMissing() {
    let configuration = ThumbnailPipeline.Configuration()
    let properties =
      Self.limits(of: configuration) + Self.limits(of: configuration.isolation).map { ("isolation." + $0.0, $0.1) }
    #expect(properties.count > 12)
    // By the machine.
    let measured: Set = ["jobs", "memoryCacheLimit", "isolation.memoryLimit"]
    for (name, value) in properties {
      guard let row = rows.first(where: { $0.property == name || $0.declaration.contains(".\(name) = ") }) else {
        Issue.record("\(name) is not in the table")
        continue
      }
      if !measured.contains(name), value != 0 { #expect(Self.quantity(row.value) == value, "\(name): \(row.value)") }
    }
    #expect(rows.contains { $0.property == "memoryBudget" })
  }

  @Test func eachOptionIsOneOfTheCommand() async throws {
    let bench = try Bench()
    var help: [String] = []
    for command in ["prefetch", "convert", "serve", "worker"] { help += try await bench.run(command, "--help").lines }
    for option in rows.map(\.option) where !option.isEmpty {
      #expect(help.contains { $0.hasPrefix("  \(option) ") }, "\(option)")
    }
  }

  /// The text of each file of the library and the command, by its name without `.swift`.
  private func sourceFiles() throws -> [String: String] {
    let folder = Self.root.appending(path: "Sources")
    var texts: [String: String] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
      let url = folder.appending(path: path)
      texts[url.deletingPathExtension().lastPathComponent] = try String(contentsOf: url, encoding: .utf8)
    }
    return texts
  }

  /// The stored numbers, sizes and times of a value: its limits.
  private static func limits(of value: Any) -> [(String, Double)] {
    Mirror(reflecting: value).children.compactMap { child in
      guard let name = child.label else { return nil }
      switch child.value {
      case let number as Int: return (name, Double(number))
      case let size as ByteSize: return (name, Double(size.bytes))
      case let time as Duration: return (name, time / .seconds(1))
      default: return nil
      }
    }
  }

  /// The last number of an expression: `256 << 10`, `7 * 86_400`, `Duration.seconds(20)`, `ByteSize.mebibytes(256)`; nil
  /// if there is none.
  private static func number(_ expression: String) -> Double? {
    let numbers = expression.matches(of: /([0-9][0-9_.]*)(?: (<<|\*) ([0-9][0-9_.]*))?/)
    guard let last = numbers.last, let first = Double(last.1.filter { $0 != "_" }) else { return nil }
    let second = last.3.flatMap { Double($0.filter { $0 != "_" }) }
    let factor: Double =
      expression.contains("mebibytes(") ? 0x1p20 : expression.contains("gibibytes(") ? 0x1p30 : 1
    guard let second else { return first * factor }
    return last.2 == "*" ? first * second : first * pow(2, second)
  }

  /// The number that a cell begins with, in bytes or seconds where it has such a unit: `256 MiB`, `268,435,456`, `20 s`.
  private static func quantity(_ cell: String) -> Double? {
    guard let match = cell.prefixMatch(of: /([0-9][0-9,]*)(?: (KiB|MiB|GiB|B|s)\b)?/),
      let number = Double(match.1.filter { $0 != "," })
    else { return nil }
    let factors: [Substring: Double] = ["KiB": 0x1p10, "MiB": 0x1p20, "GiB": 0x1p30]
    return number * (match.2.flatMap { factors[$0] } ?? 1)
  }
}

extension String {
  /// Without the backquotes around it.
  fileprivate var unquoted: String { trimmingCharacters(in: CharacterSet(charactersIn: "`")) }

  /// What is before and after the first occurrence of a text.
  fileprivate func split(_ separator: String) -> (String, String)? {
    range(of: separator).map { (String(self[..<$0.lowerBound]), String(self[$0.upperBound...])) }
  }
}
