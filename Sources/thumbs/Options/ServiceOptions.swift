import ArgumentParser
import Foundation
import ThumbnailServer
import Thumbnailer

/// The keys of addresses.
struct SigningKeysOption: ParsableArguments {
  @Option(
    "FILE",
    "A file of NAME:SECRET lines, each secret in hexadecimal digits. A server's addresses need a signature by one of "
      + "them; thumbs sign uses the first. Unsigned thumbnails have at most 4 megapixels and are not enlarged. (default: "
      + "\(ServiceOptions.signingKeysVariable))", .naming("a file"))
  var signingKeys: String?

  /// The signer with the keys; nil if there are none.
  func signer() throws -> URLSigner? {
    guard let text = try text() else { return nil }
    let lines = text.split(whereSeparator: { $0.isNewline || $0 == " " })
    let keys = lines.compactMap { URLSigner.Key(parsing: $0) }
    guard keys.count == lines.count, let signer = URLSigner(keys: keys) else {
      throw ValidationError(
        "the signing keys must be NAME:SECRET lines, the secret at least 32 hexadecimal digits, as from "
          + "openssl rand -hex 32")
    }
    return signer
  }

  /// The keys' lines, from the file or the environment; nil if there are none.
  private func text() throws -> String? {
    guard let signingKeys else { return SecretVariables.values[ServiceOptions.signingKeysVariable] }
    do {
      return try String(contentsOfFile: signingKeys, encoding: .utf8)
    } catch {
      throw ValidationError("--signing-keys \(signingKeys) cannot be read; check the path and its permissions")
    }
  }
}

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

  @OptionGroup var keys: SigningKeysOption

  @Option(
    "HOST",
    "A host whose pictures need no signature; *.example.org for all its subdomains. Pictures of other hosts then need "
      + "one. May be given several times.")
  var allowSource: [HostPattern] = []

  @Option(
    "NAME=OPTIONS", "A name for options of thumbnails, such as card=400x300,cover,webp. May be given several times.",
    visibility: .hidden)
  var preset: [String] = []

  @Flag(
    help: ArgumentHelp("Fetch pictures from this machine and private networks, too.", visibility: .hidden))
  var allowPrivateNetworks = false

  func validate() throws { _ = try presets() }

  /// Sets the given options.
  func apply(to configuration: inout ThumbnailServer.Configuration) throws {
    configuration.presets = try presets()
    configuration.sourceHosts = allowSource
    configuration.purgeKey = SecretVariables.values[Self.purgeKeyVariable]
    configuration.signer = try keys.signer()
    configuration.imaginaryKey = SecretVariables.values[Self.imaginaryKeyVariable]
    if let root {
      guard let folder = ServedFolder(path: root) else {
        throw ValidationError("--root \(root) cannot be opened; name a folder that you may read")
      }
      configuration.folder = folder
    }
  }

  /// Whether everybody may request every picture.
  var isOpen: Bool { (try? keys.signer()) == nil && allowSource.isEmpty }

  /// Whether pictures are to be served by address.
  var isWanted: Bool {
    root != nil || !isOpen || SecretVariables.values[Self.imaginaryKeyVariable] != nil
  }

  private func presets() throws -> [String: String] {
    var presets: [String: String] = [:]
    for text in preset {
      let parts = text.split(separator: "=", maxSplits: 1).map { String($0) }
      guard parts.count == 2 else { throw ValidationError("write --preset NAME=OPTIONS, such as card=400x300,cover") }
      do throws(InvalidValue) {
        _ = try VariantPath(parsing: parts[1])
      } catch {
        throw ValidationError("--preset \(parts[0]) cannot be used: \(error.message)")
      }
      presets[parts[0]] = parts[1]
    }
    return presets
  }
}
