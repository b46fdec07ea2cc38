import Thumbnailer

import TestSupport

/// A pipeline and an origin for the examples.
struct Example {
  let directory: TemporaryDirectory
  let origin: Origin
  let pipeline: ThumbnailPipeline
  /// The bytes of the image that the origin has.
  let picture: Data

  /// - Parameter configure: Changes the configuration of the pipeline.
  init(configuring configure: (inout ThumbnailPipeline.Configuration) -> Void = { _ in }) throws {
    let picture = try TestImages.bytes("formats/jpeg-420.jpg")
    origin = try Origin { request in
      switch request.path {
      case "/missing": .status(404)
      case "/busy": .tooManyRequests(retryAfter: "7")
      default: .ok(picture, type: "image/jpeg")
      }
    }
    directory = try TemporaryDirectory()
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url)
    configuration.proxy = .none
    configure(&configuration)
    pipeline = try ThumbnailPipeline(configuration)
    self.picture = picture
  }

  func request(_ path: String, _ size: PixelSize = PixelSize(40, 40)) -> ThumbnailRequest {
    ThumbnailRequest(origin.url(path), size: size)
  }
}
