/// How connections leave this machine.
public enum ProxyChoice: Hashable, Sendable {
  /// As the environment says: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as libcurl reads them.
  case environment
  /// Directly, whatever the environment says.
  case none
  /// Over this proxy, `http://host:port` or `socks5h://host:port`, whatever the environment says.
  case url(String)
}

/// A certificate to show to one host, which no other host is shown.
public struct ClientCertificate: Hashable, Sendable {
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
}
