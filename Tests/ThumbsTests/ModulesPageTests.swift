import Foundation
import Testing

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

  @Test func thePageHasEveryModuleInSwift() throws {
    let sources = Self.root.appending(path: "Sources")
    let folders = try FileManager.default.contentsOfDirectory(atPath: sources.path)
    #expect(Set(try rows().flatMap(\.names)) == Set(folders.filter { !$0.hasPrefix("C") || $0 == "CaptureDates" }))
  }
}
