import CCurl
import Foundation

/// Opens the sockets of one transfer. Here the address is known that a connection is made to, whatever the URL's
/// spelling, and whatever a name resolved to before.
struct SocketGuard {
  /// Which addresses are allowed; nil where none is checked.
  let policy: AddressPolicy?
  /// Why the system gave no socket, if it has none left: libcurl does not tell that from a host that refuses.
  private(set) var shortage: String?
  /// Whether a socket was to be opened to an address that is allowed.
  private var hasTried = false
  /// Whether an address was refused.
  private var hasRefused = false
  /// Whether libcurl is to be run again: it tries the next address only then, and would wait for up to half of the
  /// connect timeout.
  private var hasNextAddress = false

  init(_ policy: AddressPolicy?) { self.policy = policy }

  /// Whether there is no connection because no address is allowed. A name may have several, which are tried in turn.
  var isRefused: Bool { hasRefused && !hasTried }

  /// Whether an address was refused since the last call.
  mutating func takeRefusal() -> Bool {
    defer { hasNextAddress = false }
    return hasNextAddress
  }

  /// A new socket for what libcurl is about to connect to, or `CURL_SOCKET_BAD`.
  ///
  /// `report` is called with a refused address; with nil for one that is no IP address.
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
    // No program that is started meanwhile shall inherit it.
    let type = wanted.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    let opened = socket(wanted.pointee.family, type, wanted.pointee.protocol)
    shortage = opened < 0 && [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) ? String(cString: strerror(errno)) : nil
    return opened
  }
}
