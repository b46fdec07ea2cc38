import Foundation
import HTTPServer
import NIOCore
import Synchronization
import ThumbnailCore

/// A file of a download: its path, that within the gallery, and its state when the download was asked for; nil if it was
/// not there.
struct DownloadedFile: Sendable {
  let path: RawPath
  let inner: RawPath
  var state: FileState?
}

/// Files as one zip archive that is made while it is sent. Its length and all places in it are known from the names and
/// lengths, so a broken download goes on where it ended.
final class ZipArchive: Sendable {
  let length: Int
  /// A strong validator, of the names, lengths and times.
  let tag: String
  var count: Int { entries.count }

  private let paths: [RawPath]
  private let entries: [ZipEntry]
  private let directory: Range<Int>
  /// The checksums of files that were read to their ends, by their index.
  private let checksums = Mutex<[Int: UInt32]>([:])
  /// Reads files, for which it waits for the disk.
  private let reading: WorkerPool

  /// An archive of the files that are there.
  init(_ files: [DownloadedFile], reading: WorkerPool) {
    self.reading = reading
    let files = files.filter { $0.state != nil }
    paths = files.map(\.path)
    var (position, hasher) = (0, Hasher())
    entries = zip(files, ZipNames.names(of: files.map(\.inner))).map { file, name in
      var entry = ZipEntry(
        name: Array(name.utf8), modified: file.state?.modified ?? 0, length: file.state?.byteCount ?? 0)
      entry.offset = position
      position += entry.header.readableBytes + entry.length + entry.descriptor.readableBytes
      hasher.combine(entry.name)
      hasher.combine(entry.length)
      hasher.combine(entry.modified)
      return entry
    }
    directory = position..<entries.reduce(position) { $0 + $1.record.readableBytes }
    length = directory.upperBound + ZipEntry.end(count: entries.count, directory: directory).readableBytes
    // Seeded anew by each process: a download does not outlive it.
    tag = "\"\(UInt(bitPattern: hasher.finalize()))\""
  }

  /// Sends a range of the archive.
  func write(_ range: Range<Int>, to send: @escaping ServerResponse.Send) async throws {
    var writer = ZipWriter(range, send: send)
    let first = max(0, entries.partitioningIndex { $0.offset > range.lowerBound } - 1)
    writer.position = first < entries.count ? entries[first].offset : 0
    for index in entries.indices.dropFirst(first) where writer.position < range.upperBound {
      try await writer.write(entries[index].header)
      try await write(index, &writer)
      try await writer.write(checked(index, in: writer, \.descriptor))
    }
    for index in entries.indices where writer.position < range.upperBound {
      try await writer.write(checked(index, in: writer, \.record))
    }
    try await writer.write(ZipEntry.end(count: entries.count, directory: directory))
    try await writer.flush()
  }

  /// Sends the bytes of a file that are within the range.
  private func write(_ index: Int, _ writer: inout ZipWriter) async throws {
    let (start, end) = (writer.position, writer.position + entries[index].length)
    let wanted = writer.wanted(of: entries[index].length)
    if !wanted.isEmpty {
      let file = try await open(index)
      var checksum: UInt32 = 0
      writer.position = wanted.lowerBound
      while writer.position < wanted.upperBound {
        let count = min(writer.room, wanted.upperBound - writer.position)
        let part = try await read(file, at: writer.position - start, count, &checksum)
        try await writer.write(part)
      }
      // What was written to meanwhile would be half of the old and half of the new.
      _ = try await open(index)
      if wanted == start..<end { keep(checksum, of: index) }
    }
    writer.position = end
  }

  /// A part of an entry with the checksum, for which the file may have to be read, if the part is within the range.
  private func checked(
    _ index: Int, in writer: ZipWriter, _ part: (ZipEntry) -> ByteBuffer
  ) async throws -> ByteBuffer {
    var entry = entries[index]
    let unchecked = part(entry)
    if writer.wanted(of: unchecked.readableBytes).isEmpty { return unchecked }
    entry.checksum = try await checksum(of: index)
    return part(entry)
  }

  private func checksum(of index: Int) async throws -> UInt32 {
    if let known = checksums.withLock({ $0[index] }) { return known }
    let (length, file) = (entries[index].length, try await open(index))
    var checksum: UInt32 = 0
    for place in stride(from: 0, to: length, by: ZipWriter.partLength) {
      _ = try await read(file, at: place, min(ZipWriter.partLength, length - place), &checksum)
    }
    keep(checksum, of: index)
    return checksum
  }

  private func keep(_ checksum: UInt32, of index: Int) { checksums.withLock { $0[index] = checksum } }

  private func open(_ index: Int) async throws -> ThumbnailCore.FileDescriptor {
    let (path, entry) = (paths[index], entries[index])
    let file = try await reading.run { _ -> ThumbnailCore.FileDescriptor? in
      guard let (descriptor, state) = path.opened() else { return nil }
      let file = ThumbnailCore.FileDescriptor(owning: descriptor)
      return state.byteCount == entry.length && state.modified == entry.modified ? file : nil
    }
    // The length that was promised cannot be held.
    guard let file else { throw SystemFailure(code: ESTALE) }
    return file
  }

  /// A part of a file; its bytes are added to the checksum.
  private func read(
    _ file: ThumbnailCore.FileDescriptor, at place: Int, _ count: Int, _ checksum: inout UInt32
  ) async throws -> ByteBuffer {
    let part = try await reading.run { [checksum] _ -> (bytes: ByteBuffer, checksum: UInt32)? in
      var bytes = ByteBuffer()
      let found = bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: count) {
        max(0, pread(file.rawValue, $0.baseAddress, count, off_t(place)))
      }
      return found == count ? (bytes, bytes.withUnsafeReadableBytes { Checksum.crc32($0, after: checksum) }) : nil
    }
    guard let part else { throw SystemFailure(code: ESTALE) }
    checksum = part.checksum
    return part.bytes
  }
}
