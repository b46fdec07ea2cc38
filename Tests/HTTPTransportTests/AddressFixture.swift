@testable import HTTPTransport

/// Two servers at one port: a public one, and a hidden one that must never be reached. 127.0.0.2 stands for the
/// internet, and 127.0.0.1 is what it is.
struct GuardedServers {
  let hidden: Origin
  let open: Origin

  /// `handler` responds for the public one.
  init(_ handler: @escaping @Sendable (OriginRequest, _ port: Int) -> OriginResponse) throws {
    while true {
      let hidden = try Origin { _ in .ok([66]) }
      let port = hidden.port
      let open: Origin
      do {
        open = try Origin(at: "127.0.0.2", port: port) { handler($0, port) }
      } catch let error as POSIXError where error.code == .EADDRINUSE {
        // Another test has it there.
        continue
      }
      (self.hidden, self.open) = (hidden, open)
      return
    }
  }

  /// A guarded configuration for which 127.0.0.2 is public. Names have the addresses of `names`, in turn.
  func configuration(
    _ names: [String: [[String]]] = [:], _ change: (inout DownloadConfiguration) -> Void = { _ in }
  ) -> DownloadConfiguration {
    .quick { configuration in
      configuration.addresses = .publicOnly
      configuration.addresses.allowed = [AddressRange(127, 0, 0, 2, bits: 32)]
      configuration.addressesOfHost = FakeResolver(names).look
      change(&configuration)
    }
  }
}

/// Names with several lists of addresses: each look-up returns the next one, and the last one from then on.
private final class FakeResolver: Sendable {
  private let names: Mutex<[String: [[String]]]>

  init(_ names: [String: [[String]]]) { self.names = Mutex(names) }

  var look: @Sendable (String) -> [String] {
    { host in
      self.names.withLock { names in
        guard let lists = names[host], let first = lists.first else { return [] }
        if lists.count > 1 { names[host]?.removeFirst() }
        return first
      }
    }
  }
}
