import Foundation
import Testing

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
