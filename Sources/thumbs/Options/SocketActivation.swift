import Foundation

/// The socket that systemd passes to a service (sd_listen_fds).
enum SocketActivation {
  private static let firstDescriptor: Int32 = 3
  private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]

  /// The socket, if one was passed to this process. Taken out of the environment at the first use: processes that are
  /// started from here get neither the socket nor the variables.
  static let socket: Int32? = {
    let environment = ProcessInfo.processInfo.environment
    guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == getpid(),
      let count = environment["LISTEN_FDS"].flatMap({ Int($0) }), count > 0
    else { return nil }
    for variable in variables { unsetenv(variable) }
    _ = fcntl(firstDescriptor, F_SETFD, FD_CLOEXEC)
    return firstDescriptor
  }()
}
