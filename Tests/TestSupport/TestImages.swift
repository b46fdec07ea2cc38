import Foundation
import TestOrigin

@testable package import ThumbnailCore

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

extension OriginResponse {
  /// A small JPEG.
  package static let picture = Self.ok((try? TestImages.bytes("formats/jpeg-420.jpg")) ?? Data(), type: "image/jpeg")
}

extension Origin {
  /// A server that has a small JPEG under every path.
  package static func picture() throws -> Origin { try Origin { _ in .picture } }
}

/// The shared corpus of real and hostile images, which is not part of the project.
package enum SharedCorpus {
  package static let root = URL(fileURLWithPath: "../shared/corpus").standardizedFileURL
  package static let isPresent = FileManager.default.fileExists(atPath: root.appending(path: "MANIFEST.tsv").path)

  /// The columns of each file's line.
  package static func manifest() throws -> [[String]] {
    let text = try String(contentsOf: root.appending(path: "MANIFEST.tsv"), encoding: .utf8)
    return text.split(separator: "\n").dropFirst().map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
    }
  }
}

extension URL {
  /// The paths and bytes of the files below a folder that begin with these bytes, in the order of their paths.
  package func files(beginningWith signature: [UInt8]) -> [(name: String, bytes: [UInt8])] {
    let paths = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    return paths.sorted().compactMap { path in
      guard let data = try? Data(contentsOf: appending(path: path)), data.starts(with: signature) else { return nil }
      return (path, Array(data))
    }
  }
}

/// Numbered sample values.
package enum Sample {
  /// The source with this number; deterministic.
  package static func source(_ number: Int) -> ImageSource {
    // A string literal with a number in it is always a valid URL.
    ImageSource(URL(string: "https://images.example.org/\(number).jpg") ?? URL(fileURLWithPath: "/"))
  }
}
