import Foundation
@testable import ThumbnailCore

/// Numbered sample values.
enum Sample {
  /// The source with this number; deterministic.
  static func source(_ number: Int) -> ImageSource {
    // A string literal with a number in it is always a valid URL.
    ImageSource(URL(string: "https://images.example.org/\(number).jpg") ?? URL(fileURLWithPath: "/"))
  }
}
