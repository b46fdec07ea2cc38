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

  /// So that one `import` is enough, and nothing is public by mistake.
  @Test func thumbnailerExportsThePublicTypesOfTheModulesThatAreNoProducts() throws {
    let exports = try text("Sources/Thumbnailer/Thumbnailer.swift").matches(
      of: #/@_exported public import \w+ (\w+)\.(\w+)/#)
    let products = try text("Package.swift").matches(of: #/\.library\(name: "(\w+)"/#).map { String($0.1) }
    #expect(products == ["Thumbnailer", "PhotoSources", "FolderConversion"])
    var declared: Set<String> = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: "Sources").path)
    where path.hasSuffix(".swift") && !products.contains(path.components(separatedBy: "/")[0]) {
      let module = path.components(separatedBy: "/")[0]
      let types = try text("Sources/\(path)").matches(
        of: #/(?m)^public (?:final |indirect )?(?:struct|enum|class|actor|protocol|typealias) (\w+)/#)
      declared.formUnion(types.map { "\(module).\($0.1)" })
    }
    #expect(Set(exports.map { "\($0.1).\($0.2)" }) == declared)
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
