import Foundation
import Thumbnailer

/// Thumbnails of 12 kB, each of a source of its own.
struct Samples {
  let sources: [ImageSource]
  let keys: [CacheKey]
  let variant = Variant(size: PixelSize(400, 400))
  /// `variant` as the database names it.
  var token: String { variant.token }
  let thumbnail: Thumbnail
  let description = SourceDescription(size: PixelSize(6000, 4000), format: .jpeg, byteCount: 4_000_000)

  init(count: Int) {
    var generator = SystemRandomNumberGenerator()
    let data = Data((0..<12_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
    thumbnail = Thumbnail(data: data, size: PixelSize(400, 400), format: .jpeg, source: description)
    sources = (0..<count).compactMap { number in
      URL(string: "https://images.example.org/photos/2024/picture-\(number).jpg").map { ImageSource($0) }
    }
    let variant = variant
    keys = sources.map { CacheKey(source: $0.key, variant: variant) }
  }
}

/// The middle one of several measurements of the time that `body` takes, in seconds.
func median(of repetitions: Int, _ body: () throws -> Void) rethrows -> Double {
  var times: [Double] = []
  for _ in 0..<repetitions {
    let time = try ContinuousClock().measure(body)
    times.append(time / .seconds(1))
  }
  return times.sorted()[repetitions / 2]
}

func format(_ value: Double, _ digits: Int = 2) -> String { String(format: "%.\(digits)f", value) }
