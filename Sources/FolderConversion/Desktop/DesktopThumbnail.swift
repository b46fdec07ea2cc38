package import Foundation
package import ThumbnailCore
package import Thumbnailer

/// A single thumbnail of the desktop.
package enum DesktopThumbnail {
  /// Makes the thumbnail of a file, with the texts that say of which picture it is.
  ///
  /// - Parameters:
  ///   - side: The longest side in pixels; a smaller picture keeps its size.
  ///   - configuration: The pipeline's settings. Caches are not used.
  /// - Returns: A PNG.
  /// - Throws: `ThumbnailError`.
  package static func png(
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
      let thumbnail = try await pipeline.thumbnail(for: ThumbnailRequest(.file(at: path), variant: variant))
      last = thumbnail.data
      guard let state, let picture = DesktopPicture(path, state: state) else { break }
      if (try? FileState(of: path)) == state {
        return picture.thumbnail(thumbnail.data, thumbnail.source)
      }
    }
    return last ?? Data()
  }

  /// Whether a PNG of this size says that it is a thumbnail of the picture.
  package static func isOne(_ png: RawPath, of path: RawPath, _ size: PixelSize) -> Bool {
    let most = DesktopPicture.sizes.map(\.side).max() ?? 0
    guard size.longerSide <= most, let texts = PNGTexts.read(png), let state = try? FileState(of: path),
      let uri = DesktopPicture(path, state: state)?.uri
    else { return false }
    return texts["Thumb::URI"] == uri
  }
}
