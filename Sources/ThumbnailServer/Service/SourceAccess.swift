package import Foundation
import HTTPServer
import HTTPTransport
import NIOHTTP1
import ThumbnailCore
import Thumbnailer

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
  ) throws(ServerResponse.Problem) -> ImageSource {
    let isURL = WebAddress.isURL(source)
    // Programs differ in what a backslash stands for.
    let url = isURL && !source.contains("\\") ? URL(string: source) : nil
    if !isSigned { try check(request, url) }
    if let url { return ImageSource(url).adding(headers) }
    guard !isURL else {
      throw Problem(.badRequest, "invalid-request", "the address of the picture is not a URL; percent-encode it")
    }
    guard let image = folder?.image(at: source) else {
      throw Problem(.notFound, "not-found", "there is no such picture")
    }
    return image
  }

  /// Throws unless images may be sent without a key: those who may not ask for images may not upload them either.
  func checkUpload(_ request: ServerRequest) throws(ServerResponse.Problem) {
    if signer == nil, hosts.isEmpty { return }
    guard signer != nil else { throw Problem(.forbidden, "refused", "uploads need a key (THUMBS_IMAGINARY_KEY)") }
    try checkSignature(request)
  }

  /// Throws unless the request is signed, or its source is one that everybody may ask for.
  private func check(_ request: ServerRequest, _ url: URL?) throws(ServerResponse.Problem) {
    if let url, hosts.contains(where: { $0.matches(url) }) { return }
    guard signer != nil else {
      guard url != nil, !hosts.isEmpty else { return }
      throw Problem(.forbidden, "refused", "pictures of this host are not served")
    }
    try checkSignature(request)
  }

  private func checkSignature(_ request: ServerRequest) throws(ServerResponse.Problem) {
    guard let signer else { return }
    do throws(URLSigner.Refusal) {
      try signer.check(request.target)
    } catch {
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
