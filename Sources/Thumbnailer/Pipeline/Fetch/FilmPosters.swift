import DecodeSandbox
import Foundation
import HTTPTransport
package import ThumbnailCore

/// Posters of films, for any pipeline: the embedded cover, or a frame that a confined ffmpeg decodes.
package final class FilmPosters: Sendable {
  private let reader: FilmReader
  /// The largest side of a frame that is not made smaller.
  private static let whole = 65_535
  /// The largest side of a frame that serves thumbnails of all sizes.
  private static let standardSide = 2048
  /// The parts of a film in which its running time is.
  private static let firstParts = 200
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
    let frame = try await frame(of: film, side: min(side, Self.whole), covers: covers)
    return try await body(.loaded(by: frame, identity: identity + " frame"), film.header.mediaType)
  }

  /// The poster of a film as the image of its file, for a server: a frame, or the cover if none can be decoded.
  package func source(of path: RawPath) -> ImageSource {
    ImageSource.file(at: path).loaded(by: Poster(path: path, posters: self))
  }

  /// The running time of a film in seconds, if it is stated. Blocks for some reads.
  package static func seconds(of path: RawPath) -> Double? {
    (try? Film(path, mostParts: firstParts))?.header.seconds
  }

  private func frame(of film: Film, side: Int, covers: Bool) async throws(ThumbnailError) -> Frame {
    try await run { [reader] cancelled throws(ThumbnailError) in
      do throws(FilmReader.Failure) {
        return Frame(file: try reader.poster(of: film.file, film.header, side: side, covers: covers, cancelled))
      } catch {
        switch error {
        case .film(let reason): throw .damaged(reason: "the film has no poster: \(reason)")
        case .helper(.cancelled): throw .cancelled
        case .helper(let failure): throw .decoderFailed(reason: "the film has no poster: \(failure)")
        }
      }
    }
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

    init(_ path: RawPath, mostParts: Int = 10_000) throws(ThumbnailError) {
      let descriptor = path.withCString { open($0, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
      guard descriptor >= 0 else { throw .refused(status: nil, reason: SystemFailure.last.reason) }
      file = FileDescriptor(owning: descriptor)
      var status = stat()
      guard fstat(descriptor, &status) == 0, case let state = FileState(status), state.kind == .regular,
        let header = FilmHeader(.file(file, count: state.byteCount), mostParts: mostParts)
      else { throw .notAPicture(reason: "no film of a kind that is read: MP4, QuickTime, WebM, Matroska, AVI or MPEG") }
      self.header = header
    }

    /// Reads the embedded cover; nil if there is none.
    var cover: Data? {
      guard let range = header.cover else { return nil }
      let bytes = ByteSource.file(file, count: range.upperBound)
      return (try? bytes.read(at: range.lowerBound, length: range.count)).map { Data($0) }
    }
  }

  /// A film whose poster is made when it is loaded.
  private struct Poster: ImageLoading {
    let path: RawPath
    let posters: FilmPosters

    var isLocal: Bool { true }

    func load(_ request: ImageLoadRequest) async throws -> LoadedImage {
      let film = try await posters.run { [path] _ throws(ThumbnailError) in try Film(path) }
      let frame: Frame
      do throws(ThumbnailError) {
        frame = try await posters.frame(of: film, side: FilmPosters.standardSide, covers: false)
      } catch {
        guard error != .cancelled, let cover = film.cover else { throw error }
        return LoadedImage(cover)
      }
      return try frame.load(request)
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
