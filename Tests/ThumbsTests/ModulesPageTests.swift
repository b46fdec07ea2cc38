import TestSupport

/// The table of modules in docs/architecture.md against Package.swift.
struct ModulesPageTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }

  /// The names of the modules of each row, and those that they use, in the order of the page.
  private func rows() throws -> [(names: [String], uses: Set<String>)] {
    let section = try text("docs/architecture.md").components(separatedBy: "\n## ").first { $0.hasPrefix("Modules\n") }
    return (section ?? "").split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { row in
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      return (cells[0].components(separatedBy: ", "), Set(cells[2].components(separatedBy: ", ")).subtracting(["–"]))
    }
  }

  /// What each module depends on, as the package declares it.
  private func declared() throws -> [String: Set<String>] {
    let targets = try text("Package.swift").components(separatedBy: "arget(").dropFirst()
    return Dictionary(
      targets.map { target in
        let strings = target.split(separator: "swiftSettings")[0].split(
          separator: "\"", omittingEmptySubsequences: false)
        return (String(strings[1]), Set(strings.enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }))
      }, uniquingKeysWith: { $1 })
  }

  @Test func eachPackageThatTheBuildResolvesHasItsLicenceOnThePage() throws {
    let resolved = try text("Package.resolved").matches(of: /"location" : "(.+?)(\.git)?"/).map { String($0.1) }
    let named = try text("docs/licences.md").matches(of: /\n\| \[.+?\]\((.+?)\).* \| \S.+ \|/).map { String($0.1) }
    #expect(!resolved.isEmpty && Set(named) == Set(resolved))
  }

  @Test func eachModuleUsesWhatThePageSaysAndOnlyModulesAboveIt() throws {
    let (rows, declared) = (try rows(), try declared())
    var reachable: [String: Set<String>] = [:]
    for row in rows {
      let above = row.uses.reduce(row.uses) { $0.union(reachable[$1] ?? []) }
      for name in row.names {
        let dependencies = (declared[name] ?? []).subtracting([name])
        #expect(row.uses.isSubset(of: dependencies), "\(name)")
        #expect(dependencies.intersection(rows.flatMap(\.names)).subtracting(above).isEmpty, "\(name)")
        #expect(row.uses.isSubset(of: Set(reachable.keys)), "\(name)")
      }
      for name in row.names { reachable[name] = above }
    }
  }

  /// The declarations of public types in the Swift files of a folder, those inside other types included, or these alone.
  private func publicTypes(
    in folder: String, nestedAlone: Bool = false, where isCounted: (String) -> Bool = { _ in true }
  ) throws -> Int {
    let files = FileManager.default.enumerator(atPath: Self.root.appending(path: folder).path)?.compactMap {
      $0 as? String
    }
    let type = #/(?m)^( *)public (?:final |indirect )?(?:struct|enum|class|actor|protocol|typealias) /#
    return try (files ?? []).filter { $0.hasSuffix(".swift") }.map { try text("\(folder)/\($0)") }
      .filter(isCounted).reduce(0) { count, text in
        count + text.matches(of: type).count { !nestedAlone || !$0.output.1.isEmpty }
      }
  }

  @Test func aProgramThatImportsThumbnailerSeesAtMostFiftyTypes() throws {
    let page = try text("Sources/Thumbnailer/Thumbnailer.swift")
    let exports = page.matches(of: #/(?m)^@_exported public import (struct|enum|class|protocol) \w+\.(\w+)$/#)
    #expect(exports.count == page.components(separatedBy: "@_exported").count - 1, "whole modules are exported")
    let own = try publicTypes(in: "Sources/Thumbnailer")
    // Of a file that declares an exported type all types within others count, too.
    let exported = try ["ThumbnailCore", "DecodeSandbox"].reduce(exports.count) { count, module in
      try count
        + publicTypes(in: "Sources/\(module)", nestedAlone: true) { file in
          exports.contains { file.contains("\npublic \($0.output.1) \($0.output.2)") }
        }
    }
    #expect(own > 10 && exported >= exports.count && own + exported <= 50, "\(own) of its own, \(exported) exported")
  }

  @Test func thePageHasEveryModuleInSwift() throws {
    let sources = Self.root.appending(path: "Sources")
    let folders = try FileManager.default.contentsOfDirectory(atPath: sources.path)
    #expect(Set(try rows().flatMap(\.names)) == Set(folders.filter { !$0.hasPrefix("C") || $0 == "CaptureDates" }))
  }
}

/// The tests that the pages about trust name.
@Suite(.timeLimit(.minutes(5))) struct NamedTestsTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test func allOfThemExist() throws {
    let declared = try declaredNames()
    for page in ["docs/reliability.md", "docs/security.md", "docs/addresses.md", "docs/serving.md"] {
      let text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
      let words = Set(text.split { !$0.isLetter && !$0.isNumber && $0 != "/" }.map { String($0) })
      // A suite, a module of tests, or a sentence: other names in code have fewer capitals.
      let named = words.filter { word in
        word.hasSuffix("Tests") && word.count > 5 && !word.contains("/")
          || word.first?.isLowercase == true && word.allSatisfy(\.isLetter) && word.count { $0.isUppercase } > 3
      }
      #expect(named.count > 4)
      #expect(named.subtracting(declared).isEmpty, "\(page)")
    }
  }

  /// The names of all functions, types and folders of the tests.
  private func declaredNames() throws -> Set<String> {
    let folder = Self.root.appending(path: "Tests")
    var names = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
      let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
      let words = text.utf8.split { !(65...90).contains($0) && !(97...122).contains($0) && !(48...57).contains($0) }
      for (keyword, name) in zip(words, words.dropFirst()) {
        guard ["func", "struct", "class"].contains(where: { keyword.elementsEqual($0.utf8) }) else { continue }
        names.insert(String(Substring(name)))
      }
    }
    return names
  }
}
