import HTTPTransport
import TestSupport
import Thumbnailer

@Suite(.timeLimit(.minutes(5))) struct AddressesExampleTests {
  @Test func thePageShowsThisCode() throws {
    #expect(try Snippet("Addresses").isShown(in: "docs/addresses.md"))
  }

  @Test func onlyPublicAddressesAndTheExceptionsAreAllowed() throws {
    let directory = try TemporaryDirectory()
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: directory.url)
    configuration.proxy = .none
    // Addresses begins
    configuration.addresses = .publicOnly
    configuration.addresses.allowed = try [AddressRange("10.20.0.0/16"), AddressRange("fd12:3456::/32")]
    configuration.addresses.refused = [try AddressRange("203.0.113.7")]
    let pipeline = try ThumbnailPipeline(configuration)
    // Addresses ends
    let policy = configuration.addresses
    for text in ["8.8.8.8", "10.20.1.1", "fd12:3456::1"] { #expect(try policy.allows(#require(IPAddress(text)))) }
    for text in ["10.21.0.1", "127.0.0.1", "203.0.113.7"] { #expect(try !policy.allows(#require(IPAddress(text)))) }
    _ = pipeline
  }
}
