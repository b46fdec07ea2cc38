import Foundation
import Testing

@testable import TestSupport
@testable import ThumbnailCore

struct FileDescriptorTests {
  private let folder: TemporaryDirectory
  private var path: String { folder.url.path + "/file" }

  init() throws {
    folder = try TemporaryDirectory()
    try Data().write(to: URL(fileURLWithPath: path))
  }

  private func opened() throws -> FileDescriptor {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    try #require(descriptor >= 0)
    return FileDescriptor(owning: descriptor)
  }

  @Test func oneAtATimeHasTheLock() throws {
    let first = try opened()
    let second = try opened()
    #expect(first.lock() && first.lock() && !second.lock())
    withExtendedLifetime(first) {}
  }

  @Test func theLockGoesWithItsOwnerThoughAChildHasACopyOfTheDescriptor() throws {
    var first: FileDescriptor? = try opened()
    #expect(first?.lock() == true)
    // As a child has it between its start and its becoming another program.
    let copy = dup(try #require(first).rawValue)
    defer { close(copy) }
    first = nil
    #expect(try opened().lock())
  }
}
