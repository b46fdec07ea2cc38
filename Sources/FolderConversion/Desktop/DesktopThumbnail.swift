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
    let thumbnail = try await options.openPipeline().thumbnail(for: ThumbnailRequest(.file(at: path), variant: variant))
    guard let state = try? FileState(of: path), let picture = DesktopPicture(path, state: state) else {
      return thumbnail.data
    }
    return PNGTexts.adding(picture.texts(thumbnail.source, software: DesktopFolder.software), to: thumbnail.data)
  }
}
