@testable import HTTPTransport
@testable import ThumbnailCore

/// Bodies on their way to a file.
@Suite struct BodyBufferTests {
  @Test func keepsEveryByteAcrossTheLimit() throws {
    let folder = try TemporaryDirectory()
    let bytes = noise(10_000)
    for piece in [1, 7, 999, 10_000] {
      var store = BodyBuffer(memoryLimit: 2500, spillsTo: [.directory(folder.url.path)])
      store.prepare(for: 1 << 40)
      for start in stride(from: 0, to: bytes.count, by: piece) {
        try append(Array(bytes[start..<min(start + piece, bytes.count)]), to: &store)
      }
      #expect(try store.finish().read(at: 0, length: 20_000) == bytes)
      #expect(folder.contents.isEmpty)
    }
  }

  @Test func aFullDiskIsLeftForTheNextPlaceWithEveryByte() throws {
    let folder = try TemporaryDirectory()
    let bytes = noise(10_000)
    var store = BodyBuffer(memoryLimit: 2500, spillsTo: [.directory(folder.url.path)])
    let full = StoredPartial(names: PartialNames(directory: "/full", name: "a"), file: try full())
    let abandoned = Mutex<[FileDescriptor]>([])
    store.spill {
      full
    } abandon: { stored in
      abandoned.withLock { $0.append(stored.file) }
    }
    for start in stride(from: 0, to: bytes.count, by: 1000) {
      try append(Array(bytes[start..<start + 1000]), to: &store)
    }
    #expect(store.stored == nil && store.spilled != nil)
    #expect(abandoned.withLock { $0.count == 1 && $0.first === full.file })
    #expect(try store.finish().read(at: 0, length: 20_000) == bytes)
  }

  @Test func aDiskThatFillsUpInTheMiddleIsLeftWithEveryByte() throws {
    // A file with 5000 bytes in it that can take no more, as on a disk that is full by now.
    let folder = try TemporaryDirectory()
    let bytes = noise(10_000)
    let path = folder.url.appending(path: "begun").path
    #expect(FileManager.default.createFile(atPath: path, contents: Data(bytes[..<5000])))
    let file = FileDescriptor(owning: open(path, O_RDONLY | O_CLOEXEC))
    let memory = WeightedSemaphore(capacity: 1 << 20)
    for locations: [SpillLocation] in [
      [.directory(folder.url.path)], [.directory("/nonexistent"), .memory(memory)],
    ] {
      var store = BodyBuffer(continuing: file, at: 5000, spillsTo: locations)
      try append(Array(bytes[5000..<8000]), to: &store)
      try append(Array(bytes[8000...]), to: &store)
      #expect(store.spilled !== file)
      #expect(try store.finish().read(at: 0, length: 20_000) == bytes)
    }
  }

  @Test func whereNoDirectoryHasRoomTheBodyTakesItsShareOfMemory() throws {
    let bytes = noise(10_000)
    for announced in [nil, 10_000] as [Int?] {
      let memory = WeightedSemaphore(capacity: 4 << 20)
      var body: ByteSource?
      do {
        var store = BodyBuffer(memoryLimit: 2500, spillsTo: [.directory("/nonexistent"), .memory(memory)])
        store.prepare(for: announced)
        for start in stride(from: 0, to: bytes.count, by: 1000) {
          try append(Array(bytes[start..<start + 1000]), to: &store)
        }
        // It is not kept for another attempt: nobody waits with memory in hand.
        #expect(store.spilled == nil)
        body = store.finish()
      }
      #expect(try body?.read(at: 0, length: 20_000) == bytes && body?.isFileInMemory == true)
      #expect(memory.used >= 10_000 && memory.used <= 2 << 20)
      body = nil
      #expect(memory.used == 0)
    }
  }

  @Test func withoutRoomInTheMemoryBudgetTheFirstPlaceIsNamed() throws {
    let memory = WeightedSemaphore(capacity: 10_000)
    var store = BodyBuffer(memoryLimit: 10, spillsTo: [.directory("/nonexistent"), .memory(memory)])
    // Half of it may be lent.
    store.prepare(for: 5001)
    try append([1, 2, 3], to: &store)
    do {
      try append([UInt8](repeating: 1, count: 20), to: &store)
      Issue.record("stored")
    } catch DownloadError.cannotStoreBody(let path, let reason) {
      #expect(path == "/nonexistent" && reason == "No such file or directory")
    }
    #expect(memory.used == 0)
  }

  /// A file on a disk that is full.
  private func full() throws -> FileDescriptor {
    let descriptor = open("/dev/full", O_RDWR | O_CLOEXEC)
    try #require(descriptor >= 0)
    return FileDescriptor(owning: descriptor)
  }

  private func append(_ bytes: [UInt8], to store: inout BodyBuffer) throws {
    try bytes.withUnsafeBytes { try store.append($0) }
  }
}
