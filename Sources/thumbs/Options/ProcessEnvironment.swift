import DecodeSandbox
import Foundation
import HTTPTransport
import PhotoSources
import Thumbnailer

/// The environment variables that hold secrets: taken out of the environment as the command starts, so that no other
/// process finds them there.
enum SecretVariables {
  /// The variable with the password of a client certificate's key.
  static let keyPassword = "THUMBS_CLIENT_KEY_PASSWORD"

  /// The variable with the proxy that is to be used whatever the environment says, or `none`.
  static let proxy = "THUMBS_PROXY"

  /// The values that were set, by name.
  @TaskLocal static var values: [String: String] = ProcessPrivacy.takeVariables([
    ProviderSpecification.unsplashKeyVariable, ProviderSpecification.pexelsKeyVariable, keyPassword, proxy,
    ServiceOptions.signingKeysVariable, ServiceOptions.imaginaryKeyVariable, ServiceOptions.purgeKeyVariable,
    "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
  ])

  /// The environment, with the secrets in it.
  static var environment: [String: String] { ProcessInfo.processInfo.environment.merging(values) { $1 } }

  /// The storage of `s3` URLs.
  static var objectStorage: ObjectStorage? { ObjectStorage(environment: environment) }

  /// Call it before other threads run. Proxies may have a password in their URL; libcurl reads them later.
  static func hide() {
    _ = values
    ProcessPrivacy.hideVariables(ThumbnailPipeline.Configuration.proxyVariables)
  }
}

/// The limit of open files and sockets of this process.
enum DescriptorLimit {
  /// More than the connections and files of a server.
  private static let wanted: rlim_t = 65_536

  /// Raises the soft limit as far as needed and allowed: its default is too low for a server's connections. Returns the
  /// limit.
  @discardableResult static func raise() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return Int(wanted) }
    limit.rlim_cur = max(limit.rlim_cur, min(wanted, limit.rlim_max))
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
  }
}

/// The socket that systemd passes to a service (sd_listen_fds).
enum SocketActivation {
  private static let firstDescriptor: Int32 = 3
  private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]

  /// The socket, if one was passed to this process. It is taken out of the environment at the first use: child
  /// processes get neither the socket nor the variables.
  static let socket: Int32? = {
    let environment = ProcessInfo.processInfo.environment
    guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == getpid(),
      let count = environment["LISTEN_FDS"].flatMap({ Int($0) }), count > 0
    else { return nil }
    for variable in variables { unsetenv(variable) }
    _ = fcntl(firstDescriptor, F_SETFD, FD_CLOEXEC)
    return firstDescriptor
  }()

  /// The address that the socket listens at, as digits; nil without one. Others do not reach one in the file system.
  static let address: String? = socket.flatMap { socket in
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let isRead = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        getsockname(socket, address, &length) == 0 && [AF_INET, AF_INET6].contains(Int32(address.pointee.sa_family))
          && getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
      }
    }
    return isRead ? String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) : "127.0.0.1"
  }
}
