public import Foundation
public import ThumbnailCore
public import Thumbnailer

/// A single thumbnail of the desktop.
public enum DesktopThumbnail {
  /// Makes the thumbnail of a file, with the texts that say of which picture it is.
  ///
  /// - Parameters:
  ///   - side: The longest side in pixels; a smaller picture keeps its size.
  ///   - configuration: The pipeline's settings. Caches are not used.
  /// - Returns: A PNG.
  /// - Throws: `ThumbnailError`.
  public static func png(
    of path: RawPath, side: Int, by configuration: ThumbnailPipeline.Configuration
  ) async throws(ThumbnailError) -> Data {
    var options = FolderConverter.Options(inputs: [], output: "")
    options.pipeline = configuration
    let variant = Variant(size: PixelSize(side, side), fit: .contain, format: .png)
    let pipeline = try options.openPipeline()
    var last: Data?
    // A picture that is saved meanwhile is read again: the texts must not say that an old thumbnail is new.
    for _ in 0..<2 {
      let state = try? FileState(of: path)
      let (thumbnail, film) = try await thumbnail(of: path, variant, by: pipeline)
      last = thumbnail.data
      guard let state, let picture = DesktopPicture(path, state: state, film: film) else { break }
      if (try? FileState(of: path)) == state {
        return picture.thumbnail(thumbnail.data, thumbnail.source)
      }
    }
    return last ?? Data()
  }

  /// The thumbnail of a picture or a film, with the film's media type.
  private static func thumbnail(
    of path: RawPath, _ variant: Variant, by pipeline: ThumbnailPipeline
  ) async throws(ThumbnailError) -> (Thumbnail, film: String?) {
    if path.filmType == nil {
      do throws(ThumbnailError) {
        return (try await pipeline.thumbnail(for: ThumbnailRequest(.file(at: path), variant: variant)), nil)
      } catch {
        guard case .video = error else { throw error }
      }
    }
    guard let films = FilmPosters(pipeline.configuration) else {
      throw .video(reason: "a video; its poster needs the program ffmpeg, and a helper")
    }
    do throws(ThumbnailError) {
      return try await films.withPoster(of: path, for: [variant]) { (poster, type) async throws(ThumbnailError) in
        (try await pipeline.thumbnail(for: ThumbnailRequest(poster, variant: variant)), type)
      }
    } catch {
      // A picture that is named like a film, or what pictures have better words for.
      guard case .notAPicture = error else { throw error }
      return (try await pipeline.thumbnail(for: ThumbnailRequest(.file(at: path), variant: variant)), nil)
    }
  }
}
