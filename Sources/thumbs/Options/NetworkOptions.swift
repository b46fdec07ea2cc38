import ArgumentParser
import Foundation
import HTTPSemantics
import HTTPTransport
import ThumbnailCore
import Thumbnailer

/// Proxies, certificates, credentials, and the addresses that may be reached.
struct NetworkOptions: ConfigurationOptions {
  @Option("TEXT", "The program's name for servers; include a contact if you request many pictures.")
  var userAgent: String?

  @Option(
    "HOST=NAME: VALUE",
    "A header field for the pictures of one host, such as 'cdn.example.org=Authorization: Bearer …'; * stands for "
      + "every host. May be given several times. Pictures that are fetched with it are cached separately.",
    name: .customLong("header"))
  var headers: [String] = []

  @Option("FILE", "Take logins for hosts from this file, such as ~/.netrc.")
  var netrcFile: String?

  @Option(
    "URL|none",
    "The proxy, http://host:port or socks5h://host:port, or none. (default: that of the environment, such as http_proxy)"
  )
  var proxy: String?

  @Option("FILE", "The certificate authorities to trust, a PEM file. (default: the system's)")
  var cacert: String?

  @Option(
    "HOST=FILE",
    "A certificate to show to one host, a PEM file with its key. May be given several times. The key's password "
      + "comes from \(SecretVariables.keyPassword).")
  var clientCert: [String] = []

  @OptionGroup var addresses: AddressOptions

  private static let proxySchemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

  func validate() throws {
    if let userAgent, userAgent.isEmpty || userAgent.contains(where: \.isNewline) {
      throw ValidationError("--user-agent cannot be used: give one line of text")
    }
    for text in headers { _ = try Self.field(text, defaultHost: nil, needsHost: false) }
    if let proxy, proxy != "none" {
      let url = URL(string: proxy)
      // The text is not printed, because it may contain a password.
      guard url?.host != nil, Self.proxySchemes.contains(url?.scheme?.lowercased() ?? "") else {
        throw ValidationError("--proxy is no URL: write http://host:port, socks5h://host:port, or none")
      }
    }
    if let cacert { try Self.checkReadable(cacert, option: "--cacert") }
    if let netrcFile { try Self.checkReadable(netrcFile, option: "--netrc-file") }
    for text in clientCert { _ = try Self.hostAndFile(text, option: "--client-cert") }
  }

  func apply(to configuration: inout ThumbnailPipeline.Configuration) throws {
    if let userAgent { configuration.userAgent = userAgent }
    configuration.certificateAuthorityFile = cacert ?? BundledLibraries.certificateAuthorities
    if let proxy { configuration.proxy = proxy == "none" ? .none : .url(proxy) }
    try addresses.apply(to: &configuration)
    if let problem = configuration.guardBypass() { throw ValidationError(Advice.withOptions(problem)) }
    let password = SecretVariables.values[SecretVariables.keyPassword]
    configuration.clientCertificates = try clientCert.map { text in
      let (host, file) = try Self.hostAndFile(text, option: "--client-cert")
      return ClientCertificate(host: host, certificateFile: file, password: password)
    }
  }

  /// The request headers by host: those of `--header`, then the logins of the netrc file.
  ///
  /// - Parameter url: The only URL to fetch, if there is just one: headers without a host are for its host.
  func hostHeaders(for url: URL? = nil) throws -> HostHeaders {
    let defaultHost = url.flatMap { HostName(of: $0) }
    var result = HostHeaders()
    for text in headers {
      let (host, header) = try Self.field(text, defaultHost: defaultHost, needsHost: url == nil)
      result.add(header, for: host)
    }
    guard let netrcFile else { return result }
    do throws(InvalidValue) {
      return result.merging(try Netrc(path: netrcFile).headers)
    } catch {
      throw ValidationError(error.message)
    }
  }

  /// Parses `HOST=NAME: VALUE` or `NAME: VALUE`. Errors do not quote the value.
  private static func field(
    _ text: String, defaultHost: HostName?, needsHost: Bool
  ) throws -> (HostName?, HTTPHeader) {
    var host = defaultHost
    var field = text[...]
    var hasHost = false
    if let equals = text.firstIndex(of: "=") {
      let name = String(text[..<equals])
      if name == "*" || HostName(parsing: name) != nil {
        (host, field, hasHost) = (HostName(parsing: name), text[text.index(after: equals)...], true)
      }
    }
    guard let colon = field.firstIndex(of: ":"), colon > field.startIndex else {
      throw ValidationError("--header is not as it should be: write 'HOST=NAME: VALUE'")
    }
    let name = String(field[..<colon])
    guard hasHost || !needsHost else {
      throw ValidationError("--header \(name) names no host: write 'HOST=\(name): …', or '*=\(name): …' for every host")
    }
    let value = field[field.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    let header = HTTPHeader(name, value)
    guard header.isWellFormed else {
      // The name is not quoted either: an invalid one may be part of the value.
      throw ValidationError("--header cannot be sent: a name has no blanks, and a value is one line")
    }
    return (host, header)
  }

  private static func hostAndFile(_ text: String, option: String) throws -> (host: HostName, file: String) {
    guard let equals = text.firstIndex(of: "="), let host = HostName(parsing: String(text[..<equals])) else {
      throw ValidationError("\(option) \(text) names no host: write HOST=FILE, such as example.org=me.pem")
    }
    let file = String(text[text.index(after: equals)...])
    try checkReadable(file, option: option)
    return (host, file)
  }

  private static func checkReadable(_ file: String, option: String) throws {
    guard access(file, R_OK) == 0 else {
      throw ValidationError("\(option) \(file) cannot be read: \(SystemFailure.last.reason); check the path")
    }
  }
}

/// The addresses that connections may be made to.
///
/// Without an option the configuration's own policy stays: any address, for the user's own lists. A command that serves
/// strangers sets `publicOnly` before it applies these.
struct AddressOptions: ConfigurationOptions {
  @Flag(
    help: """
      Fetch only from public addresses of the internet, also along redirects: for lists that strangers have written; \
      the default in serve. Fresh thumbnails in the cache are still used.
      """)
  var publicAddressesOnly = false

  @Option(
    "ADDRESS[/BITS]",
    "Addresses that may be reached with --public-addresses-only all the same. May be given several times.")
  var allowNetwork: [AddressRange] = []

  @Option("ADDRESS[/BITS]", "Addresses that are never reached, though public. May be given several times.")
  var refuseNetwork: [AddressRange] = []

  func apply(to configuration: inout ThumbnailPipeline.Configuration) throws {
    if publicAddressesOnly { configuration.addresses = .publicOnly }
    guard allowNetwork.isEmpty || configuration.addresses.isGuarded else {
      throw ValidationError("--allow-network allows nothing more: give --public-addresses-only, too, or leave it out")
    }
    configuration.addresses.allowed = allowNetwork
    configuration.addresses.refused = refuseNetwork
  }
}
