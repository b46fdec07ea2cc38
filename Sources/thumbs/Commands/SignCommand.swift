import ArgumentParser
import Foundation
import ThumbnailServer
import Thumbnailer

/// `thumbs sign`: the signed address of a thumbnail, for a server that requires signatures.
struct SignCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign",
    abstract: "Signs the address of a thumbnail for a server that requires signatures.",
    usage: "thumbs sign <OPTIONS> <URL|PATH> [<options>]",
    discussion: """
      Examples:
        thumbs sign 400x300,cover https://example.org/a.jpg --signing-keys keys
        thumbs sign card albums/lake.jpg --expires 7d

      A file of keys has NAME:SECRET lines, the secret in hexadecimal digits, as
      from openssl rand -hex 32; the first one signs. To replace a key, put the new
      one first, and remove the old one when its addresses are not used any more.
      """)

  @Argument(help: ArgumentHelp("The options of the thumbnail, as in its address.", valueName: "OPTIONS"))
  var options: String

  @Argument(
    help: ArgumentHelp("The picture: a URL, or a path within the server's --root.", valueName: "URL|PATH"),
    completion: .file())
  var source: String

  @OptionGroup var keys: SigningKeysOption

  @Option("TIME", "The time that the address is valid. (default: unlimited)")
  var expires: Duration?

  func run() throws {
    guard let signer = try keys.signer() else {
      throw ValidationError(
        "there is no key: give --signing-keys FILE, or set \(ServiceOptions.signingKeysVariable)")
    }
    // Other words may be presets of the server.
    for word in options.split(separator: ",") where word.contains("=") {
      do throws(InvalidValue) {
        _ = try VariantPath(parsing: "1x1,\(word)")
      } catch {
        throw ValidationError("no server makes that: \(error.message)")
      }
    }
    guard let path = ThumbnailAddress.path(options: options, source: source) else {
      throw ValidationError("the address cannot be written; check the options and the source")
    }
    let end = expires.map { Int(Date().timeIntervalSince1970) + Int($0.components.seconds) }
    try Console.standard.print(signer.sign(path, expires: end))
  }
}
