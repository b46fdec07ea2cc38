public import Foundation
public import HTTPSemantics
public import ThumbnailCore

/// Header fields for the pictures of certain hosts, such as credentials.
///
/// They become part of the sources: what is fetched with them is cached apart from what is fetched without, and they
/// are never sent along a redirect to another host.
public struct HostHeaders: Sendable, Equatable {
  fileprivate struct Field: Equatable {
    var host: HostName?
    var header: HTTPHeader
    /// Of a login that gives way to another one in the URL, its name.
    var login: String?
  }

  private var fields: [Field] = []

  /// No fields.
  public init() {}

  /// Whether there is no field for any host.
  public var isEmpty: Bool { fields.isEmpty }

  /// Adds a field for a host; nil stands for every host.
  public mutating func add(_ header: HTTPHeader, for host: HostName?) {
    fields.append(Field(host: host, header: header))
  }

  /// Adds the field of a login that gives way to a login in the URL, as those of `.netrc` do. It is still taken for a URL
  /// with the same name and no password.
  mutating func add(_ header: HTTPHeader, login: String, for host: HostName) {
    fields.append(Field(host: host, header: header, login: login))
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
    for field in fields where field.host?.matches(url) ?? true && !field.givesWay(to: url) {
      let header = field.header
      if result.firstValue(of: header.name) == nil { result.append(header) }
    }
    return result
  }

  /// Compares hosts, names and values in their order.
  public static func == (lhs: HostHeaders, rhs: HostHeaders) -> Bool {
    lhs.fields == rhs.fields
  }
}

extension HostHeaders.Field {
  /// Whether the URL has a login of its own.
  fileprivate func givesWay(to url: URL) -> Bool {
    guard let login else { return false }
    let (user, password) = (url.user(percentEncoded: false) ?? "", url.password(percentEncoded: false))
    if user.isEmpty && password?.isEmpty != false { return false }
    return password != nil || user != login
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
