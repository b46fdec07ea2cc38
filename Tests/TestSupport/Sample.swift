import Foundation
@testable import ThumbnailCore

/// Values that tests count through.
enum Sample {
  /// The source of that number: always the same.
  static func source(_ number: Int) -> ImageSource {
    // A literal with a number in it is a URL.
    ImageSource(URL(string: "https://images.example.org/\(number).jpg") ?? URL(fileURLWithPath: "/"))
  }
}
