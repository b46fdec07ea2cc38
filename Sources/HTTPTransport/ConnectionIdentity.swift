public import HTTPSemantics

/// How connections leave this machine. Printed, it shows no login of a proxy.
public enum ProxyChoice: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// As the environment says: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as libcurl reads them.
  case environment
  /// Directly, whatever the environment says.
  case none
  /// Over this proxy, `http://host:port` or `socks5h://host:port`, whatever the environment says. A login stands before
  /// the host, `http://user:password@host:port`.
  case url(String)

  /// The choice, with the proxy's address without its login.
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
  /// The same.
  public var debugDescription: String { description }
  /// Shows nothing more of it.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A certificate to show to one host, which no other host is shown. Printed, it does not show its password.
public struct ClientCertificate: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// Whom to show it.
  public var host: HostName
  /// The path of a PEM file with the certificate, and the key where `keyFile` is nil.
  public var certificateFile: String
  /// The path of a PEM file with the private key.
  public var keyFile: String?
  /// The private key's password.
  public var password: String?

  /// Describes a certificate. The files are read when the host asks for one.
  public init(host: HostName, certificateFile: String, keyFile: String? = nil, password: String? = nil) {
    self.host = host
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    self.password = password
  }

  /// The certificate's file and whom it is for.
  public var description: String { "\(certificateFile) for \(host.host)" }
  /// The same.
  public var debugDescription: String { description }
  /// Shows nothing more of it.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
