import Foundation
import TestOrigin
import Testing

@testable import Thumbnailer

/// Bodies on their way to a file.
@Suite
struct BodyStoreTests {
  @Test func saysWhichDirectoryTakesNothing() throws {
    var store = BodyStore(memoryLimit: 10, spillDirectories: ["/nonexistent/a", "/dev/null"])
    try append([UInt8](repeating: 1, count: 10), to: &store)
    do {
      try append([2], to: &store)
      Issue.record("stored")
    } catch DownloadError.cannotStoreBody(let path, let reason) {
      #expect(path == "/nonexistent/a")
      #expect(reason == "No such file or directory")
    }
  }

  @Test func keepsEveryByteAcrossTheLimit() throws {
    let folder = try ScratchFolder()
    let bytes = noise(10_000)
    for piece in [1, 7, 999, 10_000] {
      var store = BodyStore(memoryLimit: 2500, spillDirectories: [folder.url.path])
      store.prepare(for: 1 << 40)
      for start in stride(from: 0, to: bytes.count, by: piece) {
        try append(Array(bytes[start..<min(start + piece, bytes.count)]), to: &store)
      }
      #expect(try store.finish().read(at: 0, length: 20_000) == bytes)
      #expect(folder.contents.isEmpty)
    }
  }

  private func append(_ bytes: [UInt8], to store: inout BodyStore) throws {
    try bytes.withUnsafeBytes { try store.append($0) }
  }
}
