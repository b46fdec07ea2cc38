package import Foundation

/// The images of the project's test data.
package enum TestImages {
  package static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("TestImages")
  /// The scenes.
  package static let gallery = url("gallery")

  /// The URL of an image, such as `formats/jpeg-420.jpg`.
  package static func url(_ path: String) -> URL { folder.appendingPathComponent(path) }

  /// The bytes of an image.
  package static func bytes(_ path: String) throws -> Data { try Data(contentsOf: url(path)) }
}

/// The shared corpus of real and hostile images, which is not part of the project.
enum SharedCorpus {
  static let root = URL(fileURLWithPath: "../shared/corpus").standardizedFileURL
  static let isPresent = FileManager.default.fileExists(atPath: root.appending(path: "MANIFEST.tsv").path)

  /// The columns of each file's line.
  static func manifest() throws -> [[String]] {
    let text = try String(contentsOf: root.appending(path: "MANIFEST.tsv"), encoding: .utf8)
    return text.split(separator: "\n").dropFirst().map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
    }
  }
}

extension URL {
  /// The paths and bytes of the files below a folder that begin with these bytes, in the order of their paths.
  func files(beginningWith signature: [UInt8]) -> [(name: String, bytes: [UInt8])] {
    let paths = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    return paths.sorted().compactMap { path in
      guard let data = try? Data(contentsOf: appending(path: path)), data.starts(with: signature) else { return nil }
      return (path, Array(data))
    }
  }
}
