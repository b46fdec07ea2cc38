public import Foundation

/// Header fields for the pictures of certain hosts, such as credentials.
///
/// They become part of the sources: what is fetched with them is cached apart from what is fetched without, and they
/// are never sent along a redirect to another host.
public struct HostHeaders: Sendable, Equatable {
  private var fields: [(host: HostName?, header: HTTPHeader)] = []

  /// No fields.
  public init() {}

  /// Whether there is no field for any host.
  public var isEmpty: Bool { fields.isEmpty }

  /// Adds a field for a host; nil stands for every host.
  public mutating func add(_ header: HTTPHeader, for host: HostName?) {
    fields.append((host, header))
  }

  /// These fields, and behind them others.
  public func merging(_ others: HostHeaders) -> HostHeaders {
    var result = self
    result.fields += others.fields
    return result
  }

  /// The fields for a URL, in the order they were added. Of fields with one name the first is taken.
  public func headers(for url: URL) -> [HTTPHeader] {
    var result: [HTTPHeader] = []
    for (host, header) in fields where host?.matches(url) ?? true {
      if result.firstValue(of: header.name) == nil { result.append(header) }
    }
    return result
  }

  /// Compares hosts, names and values in their order.
  public static func == (lhs: HostHeaders, rhs: HostHeaders) -> Bool {
    lhs.fields.count == rhs.fields.count && zip(lhs.fields, rhs.fields).allSatisfy { $0 == $1 }
  }
}

extension ImageSource {
  /// The same picture, asked for with the fields for its host. Fields that it has already stay as they are; a local
  /// file stays as it is.
  public func adding(_ headers: HostHeaders) -> ImageSource {
    guard !isUserFile, !headers.isEmpty else { return self }
    let more = headers.headers(for: url).filter { self.headers.firstValue(of: $0.name) == nil }
    guard !more.isEmpty else { return self }
    return ImageSource(
      url, headers: self.headers + more, identity: identity, alternates: alternates, downloadsPerHost: downloadsPerHost)
  }
}
