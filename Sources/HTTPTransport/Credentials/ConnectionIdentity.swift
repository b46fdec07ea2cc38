package import HTTPSemantics

/// The proxy of connections. Its description hides the proxy's login.
public enum ProxyChoice: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The environment's: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as libcurl reads them.
  case environment
  /// No proxy, regardless of the environment.
  case none
  /// This proxy, `http://host:port` or `socks5h://host:port`, regardless of the environment. A login precedes the host,
  /// `http://user:password@host:port`.
  case url(String)

  /// The choice, with the proxy's URL without its login.
  public var description: String {
    switch self {
    case .environment: "environment"
    case .none: "none"
    case .url(let url):
      url.lastIndex(of: "@").map { at in
        let scheme = url.range(of: "://").map { url[..<$0.upperBound] } ?? ""
        return "\(scheme)***@\(url[url.index(after: at)...])"
      } ?? url
    }
  }
  /// The same as `description`.
  public var debugDescription: String { description }
  /// Empty, so that dumps do not show the login.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A client certificate for one host. Its description hides the password.
package struct ClientCertificate: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The only host that it is sent to.
  package var host: HostName
  /// The path of a PEM file with the certificate and its private key.
  package var certificateFile: String
  /// The private key's password.
  package var password: String?

  /// Describes a certificate. The files are read when the host asks for one.
  package init(host: HostName, certificateFile: String, password: String? = nil) {
    self.host = host
    self.certificateFile = certificateFile
    self.password = password
  }

  /// The certificate's file and host.
  package var description: String { "\(certificateFile) for \(host.host)" }
  /// The same as `description`.
  package var debugDescription: String { description }
  /// Empty, so that dumps do not show the password.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
