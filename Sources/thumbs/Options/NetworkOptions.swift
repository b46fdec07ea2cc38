import ArgumentParser
import Foundation
import HTTPSemantics
import HTTPTransport
import ThumbnailCore
import Thumbnailer

/// The fields of requests, and the addresses that may be reached.
struct NetworkOptions: ConfigurationOptions {
  @Option(
    "HOST=NAME: VALUE",
    "A header field for the pictures of one host, such as 'cdn.example.org=Authorization: Bearer …'; * stands for "
      + "every host. May be given several times. Pictures that are fetched with it are cached separately. "
      + "'*=User-Agent: NAME' names the program for servers; add a contact if you request many pictures.",
    name: .customLong("header"))
  var headers: [String] = []

  /// Without it the configuration's own policy stays: any address, for the user's own lists. A command that serves
  /// strangers sets `publicOnly` before it applies this.
  @Flag(
    help: """
      Fetch only from public addresses of the internet, also along redirects: for lists that strangers have written; \
      the default in serve. Fresh thumbnails in the cache are still used.
      """)
  var publicAddressesOnly = false

  private static let proxySchemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
  /// The file of certificate authorities to trust, as other programs take it.
  private static let authoritiesVariable = "SSL_CERT_FILE"

  func validate() throws {
    for text in headers { _ = try Self.field(text, defaultHost: nil, needsHost: false) }
  }

  func apply(to configuration: inout ThumbnailPipeline.Configuration) throws {
    if let name = try headers.lazy.map({ try Self.field($0, defaultHost: nil, needsHost: false) }).last(
      where: Self.isName)
    {
      configuration.userAgent = name.1.value
    }
    let authorities = SecretVariables.environment[Self.authoritiesVariable].flatMap { $0.isEmpty ? nil : $0 }
    if let authorities { try Self.checkReadable(authorities, option: Self.authoritiesVariable) }
    configuration.certificateAuthorityFile = authorities ?? BundledLibraries.certificateAuthorities
    if let proxy = SecretVariables.values[SecretVariables.proxy], !proxy.isEmpty {
      let url = URL(string: proxy)
      guard proxy == "none" || url?.host != nil && Self.proxySchemes.contains(url?.scheme?.lowercased() ?? "") else {
        // It is not printed, because it may contain a password.
        throw ValidationError(
          "\(SecretVariables.proxy) is no URL: write http://host:port, socks5h://host:port, or none")
      }
      configuration.proxy = proxy == "none" ? .none : .url(proxy)
    }
    if publicAddressesOnly { configuration.addresses = .publicOnly }
  }

  /// Whether a field names the program for all servers: it is no part of the pictures' keys.
  private static func isName(_ field: (host: HostName?, header: HTTPHeader)) -> Bool {
    field.host == nil && field.header.name.lowercased() == "user-agent"
  }

  /// The request headers by host.
  ///
  /// - Parameter url: The only URL to fetch, if there is just one: headers without a host are for its host.
  func hostHeaders(for url: URL? = nil) throws -> HostHeaders {
    let defaultHost = url.flatMap { HostName(of: $0) }
    var result = HostHeaders()
    for text in headers {
      if try Self.isName(Self.field(text, defaultHost: nil, needsHost: false)) { continue }
      let (host, header) = try Self.field(text, defaultHost: defaultHost, needsHost: url == nil)
      result.add(header, for: host)
    }
    return result
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

  fileprivate static func checkReadable(_ file: String, option: String) throws {
    guard access(file, R_OK) == 0 else {
      throw ValidationError("\(option) \(file) cannot be read: \(SystemFailure.last.reason); check the path")
    }
  }
}

/// Logins from a file.
struct LoginOption: ParsableArguments {
  @Option("FILE", "Take logins for hosts from this file, such as ~/.netrc.")
  var netrcFile: String?

  func validate() throws {
    if let netrcFile { try NetworkOptions.checkReadable(netrcFile, option: "--netrc-file") }
  }

  /// These header fields, followed by the logins of the file.
  func added(to headers: HostHeaders) throws -> HostHeaders {
    guard let netrcFile else { return headers }
    do throws(InvalidValue) {
      return headers.merging(try Netrc(path: netrcFile).headers)
    } catch {
      throw ValidationError(error.message)
    }
  }
}

/// What a server's operator says of networks and certificates. To be applied after `NetworkOptions`.
struct OperatorNetworkOptions: ConfigurationOptions {
  @Option(
    "ADDRESS[/BITS]",
    "Addresses that may be reached with --public-addresses-only all the same. May be given several times.")
  var allowNetwork: [AddressRange] = []

  @Option("ADDRESS[/BITS]", "Addresses that are never reached, though public. May be given several times.")
  var refuseNetwork: [AddressRange] = []

  @Option(
    "HOST=FILE",
    "A certificate to show to one host, a PEM file with its key. May be given several times. The key's password "
      + "comes from \(SecretVariables.keyPassword).")
  var clientCert: [String] = []

  func validate() throws {
    for text in clientCert { _ = try Self.hostAndFile(text, option: "--client-cert") }
  }

  func apply(to configuration: inout ThumbnailPipeline.Configuration) throws {
    guard allowNetwork.isEmpty || configuration.addresses.isGuarded else {
      throw ValidationError("--allow-network allows nothing more: give --public-addresses-only, too, or leave it out")
    }
    configuration.addresses.allowed = allowNetwork
    configuration.addresses.refused = refuseNetwork
    let password = SecretVariables.values[SecretVariables.keyPassword]
    configuration.clientCertificates = try clientCert.map { text in
      let (host, file) = try Self.hostAndFile(text, option: "--client-cert")
      return ClientCertificate(host: host, certificateFile: file, password: password)
    }
  }

  private static func hostAndFile(_ text: String, option: String) throws -> (host: HostName, file: String) {
    guard let equals = text.firstIndex(of: "="), let host = HostName(parsing: String(text[..<equals])) else {
      throw ValidationError("\(option) \(text) names no host: write HOST=FILE, such as example.org=me.pem")
    }
    let file = String(text[text.index(after: equals)...])
    try NetworkOptions.checkReadable(file, option: option)
    return (host, file)
  }
}
