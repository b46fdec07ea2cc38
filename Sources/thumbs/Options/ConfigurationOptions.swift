import ArgumentParser
import Thumbnailer

/// Options that become values of a pipeline's configuration.
protocol ConfigurationOptions: ParsableArguments {
  /// Sets the values that are given.
  func apply(to configuration: inout ThumbnailPipeline.Configuration) throws
}

extension ThumbnailPipeline.Configuration {
  /// The library's defaults with these options applied.
  init(_ options: any ConfigurationOptions...) throws {
    self.init()
    for group in options { try group.apply(to: &self) }
  }
}
