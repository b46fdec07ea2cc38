import Foundation
import HTTPServer
import NIOCore
import ThumbnailCore

/// Thumbnails as one zip archive that is made while it is sent. Their lengths are not known before.
struct ThumbnailArchive: Sendable {
  private typealias Problem = ServerResponse.Problem
  /// A thumbnail was made anew while it was sent, with other bytes.
  private struct Changed: Error {}

  /// The list of pictures without a thumbnail, in the archive.
  private static let missingFile = "missing.txt"

  /// How often a thumbnail is asked for again, a second later each time, while the server has too much else to do.
  private static let mostAttempts = 60

  let count: Int
  private let files: [DownloadedFile]
  /// The names in the archive of the thumbnails, and at last that of the list.
  private let names: [String]

  init(_ files: [DownloadedFile]) {
    (self.files, count) = (files, files.count)
    names = ZipNames.names(
      of: files.map { RawPath(bytes: $0.inner.parts.stem + Array(".jpg".utf8)) } + [RawPath(Self.missingFile)])
  }

  /// Sends the archive. Pictures that have no thumbnail are listed in a file at its end, with the reason. Those whose
  /// thumbnail is not made for a passing reason end the transfer: an archive without them would look complete.
  ///
  /// - Parameter thumbnail: The thumbnail of a file. A part of it is held at a time, and the next one is taken from the
  ///   caches, so that slow clients fill no memory.
  func write(
    to send: @escaping ServerResponse.Send,
    thumbnail: (RawPath) async throws(ServerResponse.Problem) -> Thumbnail
  ) async throws {
    func patient(_ path: RawPath) async throws -> Result<Thumbnail, Problem> {
      var attempts = 0
      while true {
        do throws(Problem) {
          return .success(try await thumbnail(path))
        } catch {
          guard [.tooManyRequests, .serviceUnavailable, .gatewayTimeout].contains(error.status) else {
            return .failure(error)
          }
          attempts += 1
          if attempts == Self.mostAttempts { throw error }
        }
        try await Task.sleep(for: .seconds(1))
      }
    }
    var writer = ZipWriter(0..<Int.max, send: send)
    var (entries, missing): ([ZipEntry], String) = ([], "")
    for (file, name) in zip(files, names) {
      try Task.checkCancellation()
      let entry: ZipEntry
      switch try await patient(file.path) {
      case .success(let made):
        let isJPEG = made.format == .jpeg
        entry = Self.entry(
          isJPEG ? name : "\(name.dropLast(3))\(made.format.fileExtensions[0])", made.data, file.state?.modified,
          at: writer.position)
      case .failure(let problem):
        missing += "\(name): \(problem.message)\n"
        continue
      }
      entries.append(entry)
      try await writer.write(entry.header)
      for place in stride(from: 0, to: entry.length, by: ZipWriter.partLength) {
        let part = Self.part(of: entry, at: place, try await patient(file.path).get().data)
        guard let part else { throw Changed() }
        try await writer.write(part)
      }
    }
    if !missing.isEmpty {
      entries.append(Self.entry(names[count], Data(missing.utf8), at: writer.position))
      try await writer.write(entries[entries.count - 1].header)
      try await writer.write(ByteBuffer(string: missing))
    }
    let start = writer.position
    for entry in entries { try await writer.write(entry.record) }
    try await writer.write(ZipEntry.end(count: entries.count, directory: start..<writer.position))
    try await writer.flush()
  }

  private static func entry(_ name: String, _ data: Data, _ modified: Int? = nil, at offset: Int) -> ZipEntry {
    var entry = ZipEntry(
      name: Array(name.utf8), modified: modified ?? Int(Date().timeIntervalSince1970) &* 1_000_000_000,
      length: data.count,
      hasDescriptor: false)
    (entry.checksum, entry.offset) = (data.withUnsafeBytes { Checksum.of($0) }, offset)
    return entry
  }

  private static func part(of entry: ZipEntry, at place: Int, _ data: Data) -> ByteBuffer? {
    data.withUnsafeBytes { bytes in
      guard bytes.count == entry.length, Checksum.of(bytes) == entry.checksum else { return nil }
      return ByteBuffer(bytes: bytes[place..<min(place + ZipWriter.partLength, entry.length)])
    }
  }
}
