import DecodeSandbox
import Foundation
import HTTPTransport
package import ThumbnailCore

/// Posters of films, for any pipeline: the embedded cover, or a frame that a confined ffmpeg decodes.
package final class FilmPosters: Sendable {
  private let reader: FilmReader
  /// The largest side of a frame that is not made smaller.
  private static let whole = 65_535
  // Each thread waits for one ffmpeg.
  private let pool: WorkerPool

  /// Nil where the system has no ffmpeg, or without helpers.
  package init?(_ configuration: ThumbnailPipeline.Configuration) {
    guard let reader = FilmReader(configuration.isolation) else { return nil }
    self.reader = reader
    pool = WorkerPool(name: "thumbnailer.films", threads: configuration.jobs)
  }

  /// Passes the poster of a film to `body`, with the film's media type: the cover, and a frame if `body` fails with that
  /// or there is none.
  ///
  /// - Parameter variants: What is made of it, which decides its size.
  package func withPoster<Value>(
    of path: RawPath, for variants: [Variant],
    _ body: (ImageSource, _ mediaType: String) async throws(ThumbnailError) -> Value
  ) async throws(ThumbnailError) -> Value {
    let identity = ImageSource.file(at: path).identity
    let film = try await run { _ throws(ThumbnailError) in try Film(path) }
    if let data = film.cover {
      do throws(ThumbnailError) {
        return try await body(.data(data, identity: identity + " cover"), film.header.mediaType)
      } catch {
        if error == .cancelled { throw error }
      }
    }
    let isPlain = variants.allSatisfy { $0.framing == Framing() }
    let side = isPlain ? variants.map { max($0.size.width, $0.size.height) }.max() ?? Self.whole : Self.whole
    let covers = variants.contains { $0.fit != .contain }
    let frame = try await run { [reader] cancelled throws(ThumbnailError) in
      do throws(FilmReader.Failure) {
        return Frame(
          file: try reader.poster(of: film.file, film.header, side: min(side, Self.whole), covers: covers, cancelled))
      } catch {
        switch error {
        case .film(let reason): throw .damaged(reason: "the film has no poster: \(reason)")
        case .helper(.cancelled): throw .cancelled
        case .helper(let failure): throw .decoderFailed(reason: "the film has no poster: \(failure)")
        }
      }
    }
    return try await body(.loaded(by: frame, identity: identity + " frame"), film.header.mediaType)
  }

  private func run<Value: Sendable>(
    _ work: @escaping @Sendable (CancellationFlag) throws(ThumbnailError) -> Value
  ) async throws(ThumbnailError) -> Value {
    let result: Result<Value, ThumbnailError>
    do {
      result = try await pool.run { cancelled in Result { () throws(ThumbnailError) in try work(cancelled) } }
    } catch {
      throw .cancelled
    }
    return try result.get()
  }

  /// An open film.
  private struct Film: Sendable {
    let file: FileDescriptor
    let header: FilmHeader
    let cover: Data?

    init(_ path: RawPath) throws(ThumbnailError) {
      let descriptor = path.withCString { open($0, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
      guard descriptor >= 0 else { throw .refused(status: nil, reason: SystemFailure.last.reason) }
      file = FileDescriptor(owning: descriptor)
      var status = stat()
      guard fstat(descriptor, &status) == 0, FileState(status).kind == .regular,
        let header = FilmHeader(.file(file, count: Int(status.st_size)))
      else { throw .notAPicture(reason: "no film of a kind that is read: MP4, QuickTime, WebM, Matroska, AVI or MPEG") }
      self.header = header
      let bytes = ByteSource.file(file, count: Int(status.st_size))
      cover = header.cover.flatMap { try? bytes.read(at: $0.lowerBound, length: $0.count) }.map { Data($0) }
    }
  }

  /// A frame in a file in memory. Its pixels alone are the film's, so all may share a helper.
  private struct Frame: ImageLoading {
    let file: FileDescriptor

    var isLocal: Bool { true }
    var site: String? { "films" }

    func load(_ request: ImageLoadRequest) throws -> LoadedImage {
      var status = stat()
      guard fstat(file.rawValue, &status) == 0 else { throw SystemFailure.last }
      return LoadedImage(file, FileState(status))
    }
  }
}
