package import Foundation
import HTTPServer
import HTTPTransport
import NIOHTTP1
import ThumbnailCore
import Thumbnailer

/// An image that may be asked for, and what may be made of it.
struct ServedSource: Sendable {
  /// The most pixels of a thumbnail that nobody has signed for: 2048 × 2048.
  static let strangersPixels = 4 << 20

  let image: ImageSource
  /// The most pixels of its thumbnails, which are then not enlarged either; nil where the address is signed.
  let mostPixels: Int?

  init(_ image: ImageSource, isSigned: Bool) {
    (self.image, mostPixels) = (image, isSigned ? nil : Self.strangersPixels)
  }

  /// Whether a thumbnail may be sent. One may be stored that somebody else may ask for.
  func admits(_ thumbnail: Thumbnail, _ variant: Variant) -> Bool {
    guard let mostPixels else { return true }
    let source = thumbnail.source
    return ThumbnailGeometry(source: source.size, variant: variant, isDrawing: source.format.isDrawing)
      .isForStrangers(mostPixels)
  }
}

/// Which images may be asked for, and by whom.
struct SourceAccess: Sendable {
  private typealias Problem = ServerResponse.Problem

  /// Checks signatures; nil where none are needed.
  let signer: URLSigner?
  /// The hosts whose images need no signature; if there are none, and no signer either, all are served.
  let hosts: [HostPattern]
  /// The folder whose files may be asked for.
  let folder: ServedFolder?
  /// Header fields for the hosts that images come from.
  let headers: HostHeaders

  /// The image that is named in a request.
  ///
  /// - Parameters:
  ///   - source: A URL, or a path within the folder; percent-decoded.
  ///   - isSigned: Whether another signature than ours allows it.
  func image(
    _ source: String, _ request: ServerRequest, isSigned: Bool = false
  ) throws(ServerResponse.Problem) -> ServedSource {
    let isURL = WebAddress.isURL(source)
    // Programs differ in what a backslash stands for.
    let url = isURL && !source.contains("\\") ? URL(string: source) : nil
    let isSigned = if isSigned { true } else { try check(request, url) }
    if let url { return ServedSource(ImageSource(url).adding(headers), isSigned: isSigned) }
    guard !isURL else {
      throw Problem(.badRequest, "invalid-request", "the address of the picture is not a URL; percent-encode it")
    }
    guard let image = folder?.image(at: source) else {
      throw Problem(.notFound, "not-found", "there is no such picture")
    }
    return ServedSource(image, isSigned: isSigned)
  }

  /// Whether an upload without a key is signed. Throws where images may not be asked for without, and so not uploaded.
  func checkUpload(_ request: ServerRequest) throws(ServerResponse.Problem) -> Bool {
    guard signer != nil || hosts.isEmpty else {
      throw Problem(.forbidden, "refused", "uploads need a key (THUMBS_IMAGINARY_KEY)")
    }
    return try check(request, nil)
  }

  /// Whether the request is signed. Throws if it has to be: if not everybody may ask for its source.
  private func check(_ request: ServerRequest, _ url: URL?) throws(ServerResponse.Problem) -> Bool {
    let isForAll = url.map { url in hosts.contains { $0.matches(url) } } ?? false
    guard let signer else {
      if isForAll || url == nil || hosts.isEmpty { return false }
      throw Problem(.forbidden, "refused", "pictures of this host are not served")
    }
    do throws(URLSigner.Refusal) {
      try signer.check(request.target)
      return true
    } catch {
      if isForAll { return false }
      throw Problem(.forbidden, "refused", error.message)
    }
  }
}

extension URLSigner.Refusal {
  /// One line for the client.
  var message: String {
    switch self {
    case .unsigned: "this address has to be signed"
    case .unknownKey: "the key of the signature is not known"
    case .expired: "this address has expired"
    case .altered: "the signature is not that of this address"
    }
  }
}

/// A host by its whole name, or all below one: `*.example.org`.
package struct HostPattern: Sendable, Hashable {
  private let name: String
  private let isSuffix: Bool

  /// Parses a pattern. Nil for a star anywhere but at the front, and for an empty name.
  package init?(parsing text: String) {
    let text = text.lowercased()
    isSuffix = text.hasPrefix("*.")
    // URLs name the host without the brackets of an IPv6 address.
    let isIPv6 = text.hasPrefix("[") && text.hasSuffix("]")
    name = isIPv6 ? String(text.dropFirst().dropLast()) : isSuffix ? String(text.dropFirst()) : text
    // A port is not part of a host.
    let hasPort = name.contains(":") && !isIPv6
    guard !name.isEmpty, name != ".", !hasPort, !name.contains(where: { "*/@ ".contains($0) }) else { return nil }
  }

  /// Whether it stands for the host of a URL.
  package func matches(_ url: URL) -> Bool {
    guard let host = url.host()?.lowercased() else { return false }
    return isSuffix ? host.hasSuffix(name) : host == name
  }
}
