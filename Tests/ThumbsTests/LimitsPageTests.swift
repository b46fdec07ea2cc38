import ArgumentParser

@testable import thumbs

/// The tables in docs/limits.md: each row as the source, the library's properties and the command's help say.
@Suite(.timeLimit(.minutes(5))) struct LimitsPageTests {
  /// A row of a table: a limit, or several of one kind with semicolons between them.
  private struct Row {
    let name: String
    let values: [String]
    /// The options and properties that set it.
    let settings: [String]
    /// `File.name`, as in the source.
    let declarations: [String]

    init?(_ line: Substring) {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 5, cells[4].hasPrefix("`") else { return nil }
      name = cells[0]
      values = cells[1].components(separatedBy: "; ")
      (settings, declarations) = (cells[2].quoted, cells[4].quoted)
    }

    /// The default of a property that it names, or whose declaration it names.
    func value(of property: String) -> String? {
      if let index = declarations.firstIndex(of: "ThumbnailPipeline+Configuration.\(property)") { return values[index] }
      return settings.contains(property) ? values[0] : nil
    }
  }

  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private let rows: [Row]

  init() throws {
    let page = try String(contentsOf: Self.root.appending(path: "docs/limits.md"), encoding: .utf8)
    rows = page.split(separator: "\n").compactMap { Row($0) }
    #expect(rows.flatMap(\.declarations).count > 50)
  }

  @Test func eachDefaultIsThatOfTheSource() throws {
    let sources = try sourceFiles()
    for row in rows {
      #expect(row.values.count == row.declarations.count, "\(row.name)")
      for (value, declaration) in zip(row.values, row.declarations) {
        let (file, name) = try #require(declaration.split("."))
        // A short declaration may be in the file of another one.
        let text = try #require(
          sources[file]
            ?? sources.values.first { text in ["struct", "class", "enum"].contains { text.contains("\($0) \(file)") } },
          "there is no \(file)")
        let expressions = text.matches(of: try Regex("\\b\(name)(?:: \\w+)? = (.+?)(?=, \\w+: \\w+ = | //|\\n)"))
          .compactMap { $0.output[1].substring.map { String($0) } }
        #expect(!expressions.isEmpty, "\(declaration)")
        let numbers = expressions.compactMap { Self.number($0) }
        let isDeclared = numbers.isEmpty || Self.quantity(value).map(numbers.contains) == true
        #expect(isDeclared, "\(row.name): \(value), but \(declaration) = \(numbers)")
      }
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
      guard let cell = rows.lazy.compactMap({ $0.value(of: name) }).first else {
        Issue.record("\(name) is on no row")
        continue
      }
      if !measured.contains(name), value != 0 { #expect(Self.quantity(cell) == value, "\(name): \(cell)") }
    }
    #expect(rows.contains { $0.settings.contains("memoryBudget") })
  }

  @Test func eachOptionIsOneOfTheCommand() {
    let commands: [any ParsableCommand.Type] = [
      PrefetchCommand.self, ConvertCommand.self, ServeCommand.self, WorkerCommand.self,
    ]
    let help = commands.flatMap { $0.helpMessage(includeHidden: true).split(separator: "\n") }
    for option in rows.flatMap(\.settings) where option.hasPrefix("--") {
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
  /// The texts between backquotes.
  fileprivate var quoted: [String] {
    components(separatedBy: "`").enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
  }

  /// What is before and after the first occurrence of a text.
  fileprivate func split(_ separator: String) -> (String, String)? {
    range(of: separator).map { (String(self[..<$0.lowerBound]), String(self[$0.upperBound...])) }
  }
}
