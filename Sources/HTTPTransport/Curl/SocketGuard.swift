import CCurl
import Foundation

/// Opens the sockets of one transfer and checks their addresses. Only here the final address is known, regardless of
/// the URL's spelling and of earlier look-ups.
struct SocketGuard {
  /// The addresses that are allowed; nil if none is checked.
  let policy: AddressPolicy?
  /// Why the system could not create a socket. libcurl reports the same error as for a host that refuses the
  /// connection.
  private(set) var shortage: String?
  /// Whether a socket to an allowed address was requested.
  private var hasTried = false
  /// Whether an address was refused.
  private var hasRefused = false
  /// Whether libcurl must run again at once. Otherwise it would try the next address only after up to half of the
  /// connect timeout.
  private var hasNextAddress = false

  init(_ policy: AddressPolicy?) { self.policy = policy }

  /// Whether there is no connection because no address is allowed. libcurl tries several addresses of a name in turn.
  var isRefused: Bool { hasRefused && !hasTried }

  /// Whether an address was refused since the last call.
  mutating func takeRefusal() -> Bool {
    defer { hasNextAddress = false }
    return hasNextAddress
  }

  /// A new socket for the address that libcurl connects to, or `CURL_SOCKET_BAD`.
  ///
  /// `report` is called with a refused address, or with nil if it is not an IP address.
  mutating func open(_ wanted: UnsafePointer<curl_sockaddr>, report: (IPAddress?) -> Void) -> curl_socket_t {
    if let policy {
      let bytes = UnsafeRawBufferPointer(start: ccurl_socket_address(wanted), count: Int(wanted.pointee.addrlen))
      let address = IPAddress(socketAddress: bytes)
      guard let address, policy.allows(address) else {
        (hasRefused, hasNextAddress) = (true, true)
        report(address)
        return CURL_SOCKET_BAD
      }
    }
    hasTried = true
    // Child processes must not inherit it.
    let type = wanted.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    let opened = socket(wanted.pointee.family, type, wanted.pointee.protocol)
    shortage = opened < 0 && [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) ? String(cString: strerror(errno)) : nil
    return opened
  }
}
