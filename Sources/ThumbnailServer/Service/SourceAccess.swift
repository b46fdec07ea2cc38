package import Foundation
import HTTPServer
import HTTPTransport
import NIOHTTP1
import Synchronization
package import ThumbnailCore
import Thumbnailer

/// An allowed source image, and the limits of its thumbnails.
struct ServedSource: Sendable {
  /// The most pixels of a thumbnail without a signature: 2048 × 2048.
  static let strangersPixels = 4 << 20

  let image: ImageSource
  /// The most pixels of its thumbnails, which may not be enlarged either; nil if the address is signed.
  let mostPixels: Int?

  init(_ image: ImageSource, isSigned: Bool) {
    (self.image, mostPixels) = (image, isSigned ? nil : Self.strangersPixels)
  }

  /// Whether a thumbnail may be sent. A stored one may belong to a request with other rights.
  func admits(_ thumbnail: Thumbnail, _ variant: Variant) -> Bool {
    guard let mostPixels else { return true }
    let source = thumbnail.source
    return ThumbnailGeometry(source: source.size, variant: variant, isDrawing: source.format.isDrawing)
      .isForStrangers(mostPixels)
  }
}

/// Decides which images may be requested, and by whom.
struct SourceAccess: Sendable {
  private typealias Problem = ServerResponse.Problem

  /// Checks signatures; nil if none are needed.
  let signer: URLSigner?
  /// The hosts whose images need no signature; if there are none, and no signer either, all are served.
  let hosts: [HostPattern]
  /// The folder whose files can be requested.
  let folder: ServedFolder?
  /// Header fields for the hosts of images.
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
    // Programs interpret a backslash differently.
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

  /// Whether an upload without a key is signed. Throws if sources need a signature, because uploads then need one, too.
  func checkUpload(_ request: ServerRequest) throws(ServerResponse.Problem) -> Bool {
    guard signer != nil || hosts.isEmpty else {
      throw Problem(.forbidden, "refused", "uploads need a key (THUMBS_IMAGINARY_KEY)")
    }
    return try check(request, nil)
  }

  /// Whether the request is signed. Throws if its source needs a signature and it has none.
  private func check(_ request: ServerRequest, _ url: URL?) throws(ServerResponse.Problem) -> Bool {
    let isForAll = url.map { url in hosts.contains { $0.matches(url) } } ?? false
    guard let signer else {
      if isForAll || url == nil || hosts.isEmpty { return false }
      throw Problem(.forbidden, "refused", "pictures of this host are not served")
    }
    do throws(InvalidValue) {
      try signer.check(request.target)
      return true
    } catch {
      if isForAll { return false }
      throw Problem(.forbidden, "refused", error.message)
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

  /// Whether it matches the host of a URL.
  package func matches(_ url: URL) -> Bool {
    guard let host = url.host()?.lowercased() else { return false }
    return isSuffix ? host.hasSuffix(name) : host == name
  }
}

/// The folder whose files strangers can request by path. Each part of a path is opened within the part before it, and
/// links are not followed, so no change to the folder meanwhile leads outside.
package struct ServedFolder: Sendable {
  private let root: RootFolder
  /// A path that leads there even if it is moved, where the system has such.
  private let place: RawPath

  /// Opens the folder. Nil if it cannot be opened.
  package init?(path: String) {
    guard let root = try? RootFolder(RawPath(path)), let opened = try? root.folder([]) else { return nil }
    let place = "/proc/self/fd/\(opened.rawValue)"
    (self.root, self.place) = (root, RawPath(access(place, F_OK) == 0 ? place : path))
  }

  /// The image at a path within the folder; nil if there is no such file, or it is passed over (`DirectoryWalk`). Blocks
  /// for some system calls.
  ///
  /// - Parameter path: Percent-decoded, its parts separated by slashes.
  package func image(at path: String) -> ImageSource? {
    // In UTF-8, as the system reads it: a slash with a combining mark is one Character, which does not equal a slash.
    let path = Array(path.utf8)
    guard RootFolder.isPlain(path), let (file, state) = try? root.file(path), state.kind == .regular,
      !DirectoryWalk.passesOver(path, in: place)
    else { return nil }
    // The identity does not contain the path: a file that was moved is the same image.
    let identity = "\(state.device)-\(state.inode)-\(state.byteCount)-\(state.modified)"
    return .loaded(by: ServedFile(file: file, state: state), identity: "file \(identity)")
  }
}

/// An open file as an image's bytes.
private struct ServedFile: ImageLoading {
  let file: FileDescriptor
  let state: FileState

  var isLocal: Bool { true }
  var site: String? { "folder" }

  func load(_ request: ImageLoadRequest) -> LoadedImage { LoadedImage(file, state) }
}

/// The addresses accepted lately: parsing one and checking its signature takes longer than the rest of a response from
/// memory.
///
/// Nothing that decides about an address changes while the server runs, except that the address may expire.
final class AcceptedAddresses: Sendable {
  /// A parsed address.
  struct Address: Sendable {
    let options: VariantPath
    let source: ServedSource
    /// The end of its validity, in seconds since 1970; nil for none.
    let end: Int?
  }

  /// The longest stored target in bytes; longer ones are parsed each time.
  private static let longestTarget = 1024

  private let addresses = Mutex(Generations<String, Address>(limit: 2048))

  /// The parsed address of a request's target; nil if it has to be parsed.
  func address(of target: String, now: time_t = time(nil)) -> Address? {
    addresses.withLock { $0.use(target) }.flatMap { address in
      address.end.map { now < $0 } ?? true ? address : nil
    }
  }

  /// Remembers an address that was accepted.
  func insert(_ address: Address, of target: String) {
    guard target.utf8.count <= Self.longestTarget else { return }
    addresses.withLock { $0.insert(address, for: target) }
  }
}
