import ArgumentParser
import ThumbnailCore
import Thumbnailer

/// The properties of the thumbnails, for all commands that make some.
struct ThumbnailOptions: ParsableArguments {
  @Option(
    "WxH|N|Wx|xH",
    "The thumbnails' box in device pixels: 400x300, 400 for a square, 400x or x300 for one side alone. All commands "
      + "but get take several. (default: 400)", name: .customLong("size"))
  var sizes: [TargetSize] = []

  @Option(
    help: """
      How the picture fits the box: contain shows all of it, cover fills it and crops, fill stretches, auto covers if \
      both are upright or both are wide.
      """)
  var fit = Fit.contain

  @Option(
    help: "The format; auto is JPEG, or WebP for a picture with transparency; same is the picture's own.")
  var format = OutputFormat.auto

  @Option("N", "The encoder's quality, 1 to 100.", .within(1...100, "give a number from 1 to 100"))
  var quality = 80

  func validate() throws {
    if fit != .contain, let open = sizes.first(where: \.isOpen) {
      throw ValidationError(
        "--size \(open) leaves a side open, which --fit \(fit.rawValue) cannot fill; give both, such as 400x300")
    }
  }

  /// The sizes in the order given, without duplicates.
  var distinctSizes: [TargetSize] {
    var seen: Set<TargetSize> = []
    return (sizes.isEmpty ? [TargetSize(PixelSize(400, 400))] : sizes).filter { seen.insert($0).inserted }
  }

  /// One variant for each size.
  func variants(gravity: Gravity = .centre) -> [Variant] {
    distinctSizes.map {
      Variant(size: $0.box, fit: fit, gravity: gravity, format: format, quality: quality)
    }
  }
}

/// The part of a picture that fills its box.
struct GravityOption: ParsableArguments {
  @Option(help: "The part kept by cover.")
  var gravity = Gravity.centre
}

/// The part of a picture that its thumbnail shows.
struct CropOptions: ParsableArguments {
  @Option(
    "WxH[+X+Y]",
    "The part of the picture that is used, in its pixels once it is upright: its size and its upper left corner; without "
      + "the corner --gravity places it.")
  var crop: String?

  func validate() throws {
    if let crop, Framing.Crop(parsing: crop) == nil {
      throw ValidationError("write --crop 300x200+10+20, or 300x200 for a part in the middle")
    }
  }

  /// - Parameter gravity: The place of a part without a corner.
  func framing(_ gravity: Gravity) -> Framing {
    var framing = Framing()
    framing.crop = crop.flatMap { Framing.Crop(parsing: $0, gravity: gravity) }
    return framing
  }
}
