import ArgumentParser
import Foundation
import ThumbnailServer
import Thumbnailer

/// The thumbnails that the server makes on request, besides those of the gallery.
struct ServiceOptions: ParsableArguments {
  /// The variables with secrets of the service.
  static let signingKeysVariable = "THUMBS_SIGNING_KEYS"
  static let imaginaryKeyVariable = "THUMBS_IMAGINARY_KEY"
  static let purgeKeyVariable = "THUMBS_PURGE_KEY"

  @Option(
    "FOLDER",
    "Serve thumbnails of the pictures in this folder, by path: /thumb/400x300/a/b.jpg. Links are not followed.",
    .naming("a folder"))
  var root: String?

  @Option(
    "FILE",
    "A file of NAME:SECRET lines, each secret in hexadecimal digits. Addresses need a signature by one of them; thumbs "
      + "sign uses the first. Unsigned thumbnails have at most 4 megapixels and are not enlarged. (default: "
      + "\(signingKeysVariable))", .naming("a file"))
  var signingKeys: String?

  @Option(
    "HOST",
    "A host whose pictures need no signature; *.example.org for all its subdomains. Pictures of other hosts then need "
      + "one. May be given several times.")
  var allowSource: [HostPattern] = []

  @Option(
    "NAME=OPTIONS", "A name for options of thumbnails, such as card=400x300,cover,webp. May be given several times.",
    visibility: .hidden)
  var preset: [String] = []

  @Option(
    "SIZE", "The longest picture that is uploaded. (default: 64MiB)", .atLeast(ByteSize(bytes: 1), "1"),
    visibility: .hidden)
  var maxUpload: ByteSize?

  @Option(
    "N",
    "Thumbnails that may be in work or wait at once, a quarter of them for one client; beyond that it is 429 or 503.",
    .within(1...1_000_000), visibility: .hidden)
  var queue = 1024

  @Option(
    "TIME", "How long a thumbnail may take, with all waiting. (default: 60s)",
    OptionRule { $0 < .seconds(1) ? "give at least 1s" : nil }, visibility: .hidden)
  var deadline: Duration?

  @Option(
    "FILE",
    "A picture to send with errors of /thumb, at most 1 MiB: what pages show in place of the picture.",
    .naming("a picture"), visibility: .hidden)
  var fallback: String?

  @Option(
    "N", "Requests a second that one client may send. (default: no limit)",
    .within(0.1...1_000_000, "give 0.1 to 1000000"), visibility: .hidden)
  var rateLimit: Double?

  @Flag(
    help: ArgumentHelp("Fetch pictures from this machine and private networks, too.", visibility: .hidden))
  var allowPrivateNetworks = false

  @Option(help: ArgumentHelp("Write a line for each response to stderr.", valueName: "text|json", visibility: .hidden))
  var accessLog: AccessLog.Format?

  func validate() throws { _ = try presets }

  /// Sets the given options.
  func apply(to configuration: inout ThumbnailServer.Configuration) throws {
    configuration.presets = try presets
    configuration.sourceHosts = allowSource
    configuration.mostWaiting = queue
    configuration.requestsPerSecond = rateLimit
    if let deadline { configuration.deadline = deadline }
    if let fallback {
      guard let image = FallbackImage(path: fallback) else {
        throw ValidationError(
          "--fallback \(fallback) cannot be used: name a JPEG, PNG, WebP, AVIF, GIF or SVG of at most 1 MiB")
      }
      configuration.fallback = image
    }
    configuration.purgeKey = SecretVariables.values[Self.purgeKeyVariable]
    if let maxUpload { configuration.longestUpload = maxUpload.bytes }
    configuration.log = accessLog.map { AccessLog($0) }
    configuration.signer = try signer
    configuration.imaginaryKey = SecretVariables.values[Self.imaginaryKeyVariable]
    if let root {
      guard let folder = ServedFolder(path: root) else {
        throw ValidationError("--root \(root) cannot be opened; name a folder that you may read")
      }
      configuration.folder = folder
    }
  }

  /// Whether everybody may request every picture.
  var isOpen: Bool { (try? signer) == nil && allowSource.isEmpty }

  /// Whether pictures are to be served by address.
  var isWanted: Bool {
    root != nil || !isOpen || SecretVariables.values[Self.imaginaryKeyVariable] != nil
  }

  var signer: URLSigner? {
    get throws {
      guard let text = try SigningKeys.text(of: signingKeys) else { return nil }
      return try SigningKeys.signer(text)
    }
  }

  private var presets: [String: String] {
    get throws {
      var presets: [String: String] = [:]
      for text in preset {
        let parts = text.split(separator: "=", maxSplits: 1).map { String($0) }
        guard parts.count == 2 else { throw ValidationError("write --preset NAME=OPTIONS, such as card=400x300,cover") }
        do throws(VariantPath.Problem) {
          _ = try VariantPath(parsing: parts[1])
        } catch {
          throw ValidationError("--preset \(parts[0]) cannot be used: \(error.message)")
        }
        presets[parts[0]] = parts[1]
      }
      return presets
    }
  }
}

/// The keys that sign addresses, from a file or the environment.
enum SigningKeys {
  /// The keys' lines; nil if there are none.
  static func text(of path: String?) throws -> String? {
    guard let path else { return SecretVariables.values[ServiceOptions.signingKeysVariable] }
    do {
      return try String(contentsOfFile: path, encoding: .utf8)
    } catch {
      throw ValidationError("--signing-keys \(path) cannot be read; check the path and its permissions")
    }
  }

  static func signer(_ text: String) throws -> URLSigner {
    let lines = text.split(whereSeparator: { $0.isNewline || $0 == " " })
    let keys = lines.compactMap { URLSigner.Key(parsing: $0) }
    guard keys.count == lines.count, let signer = URLSigner(keys: keys) else {
      throw ValidationError(
        "the signing keys must be NAME:SECRET lines, the secret at least 32 hexadecimal digits, as from "
          + "openssl rand -hex 32")
    }
    return signer
  }
}
