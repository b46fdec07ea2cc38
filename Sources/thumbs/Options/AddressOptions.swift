import ArgumentParser
import HTTPTransport
import Thumbnailer

/// Which addresses connections may be made to.
///
/// Without an option the configuration's own policy stays: any address, as suits a person's own lists. A command that
/// fetches what strangers ask for sets `publicOnly` before it applies these.
struct AddressOptions: ConfigurationOptions {
  @Flag(help: "Fetch from this machine and private networks, too: the default, except in serve.")
  var allowPrivateNetworks = false

  @Flag(
    help: """
      Fetch only from public addresses of the internet, also along redirects: for lists that strangers have written, \
      and always in serve. What is fresh in the cache is used all the same.
      """)
  var publicAddressesOnly = false

  @Option(
    help: ArgumentHelp(
      "Addresses that may be reached with --public-addresses-only all the same. May be given several times.",
      valueName: "ADDRESS[/BITS]"), transform: AddressRange.option)
  var allowNetwork: [AddressRange] = []

  @Option(
    help: ArgumentHelp(
      "Addresses that are never reached, though public. May be given several times.", valueName: "ADDRESS[/BITS]"),
    transform: AddressRange.option)
  var refuseNetwork: [AddressRange] = []

  func validate() throws {
    try OptionCheck.oneOf([
      ("--allow-private-networks", allowPrivateNetworks), ("--public-addresses-only", publicAddressesOnly),
    ])
  }

  func apply(to configuration: inout ThumbnailPipeline.Configuration) throws {
    if allowPrivateNetworks { configuration.addresses = .any }
    if publicAddressesOnly { configuration.addresses = .publicOnly }
    guard allowNetwork.isEmpty || configuration.addresses.isGuarded else {
      throw ValidationError("--allow-network allows nothing more: give --public-addresses-only, too, or leave it out")
    }
    configuration.addresses.allowed = allowNetwork
    configuration.addresses.refused = refuseNetwork
  }
}

extension AddressRange {
  /// Parses `10.0.0.0/8`, or throws an error that explains the syntax.
  static func option(_ text: String) throws -> AddressRange {
    if let range = try? AddressRange(text) { return range }
    throw ValidationError("write an address or a range, such as 10.1.2.3, 10.0.0.0/8 or fd00::/8")
  }
}
