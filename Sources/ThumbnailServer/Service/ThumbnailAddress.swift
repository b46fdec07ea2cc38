import Foundation

/// The addresses of thumbnails: `/thumb/{options}/{source}`.
package enum ThumbnailAddress {
  /// What need not be encoded in a part of a path (RFC 3986: unreserved characters).
  private static let plain = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  /// The path of a thumbnail.
  ///
  /// - Parameter source: A URL, or a path within the served folder.
  package static func path(options: String, source: String) -> String? {
    let optionCharacters = plain.union(CharacterSet(charactersIn: ",="))
    // The parts of a path stay readable; a URL is one part.
    let sourceCharacters = WebAddress.isURL(source) ? plain : plain.union(CharacterSet(charactersIn: "/"))
    guard let options = options.addingPercentEncoding(withAllowedCharacters: optionCharacters),
      let source = source.addingPercentEncoding(withAllowedCharacters: sourceCharacters), !source.isEmpty
    else { return nil }
    return "/thumb/\(options)/\(source)"
  }
}
