package import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// Header fields for the images of certain hosts, such as credentials.
///
/// They become part of the sources: images fetched with them have different cache keys, and they are never sent after a
/// redirect to another host.
package struct HostHeaders: Sendable, Equatable {
  fileprivate struct Field: Equatable {
    var host: HostName?
    var header: HTTPHeader
    /// The user name, for a login that is overridden by one in the URL.
    var login: String?

    /// Whether the URL's own login overrides this one.
    func givesWay(to url: URL) -> Bool {
      guard let login else { return false }
      let (user, password) = (url.user(percentEncoded: false) ?? "", url.password(percentEncoded: false))
      if user.isEmpty && password?.isEmpty != false { return false }
      return password != nil || user != login
    }
  }

  private var fields: [Field] = []

  /// No fields.
  package init() {}

  /// Whether there is no field for any host.
  package var isEmpty: Bool { fields.isEmpty }

  /// Adds a field for a host; nil stands for every host. A login in the URL overrides the field of another `login`, as
  /// with `.netrc`; it still applies to a URL with the same user name and no password.
  package mutating func add(_ header: HTTPHeader, login: String? = nil, for host: HostName?) {
    fields.append(Field(host: host, header: header, login: login))
  }

  /// These fields, followed by others.
  package func merging(_ others: HostHeaders) -> HostHeaders {
    var result = self
    result.fields += others.fields
    return result
  }

  /// The fields for a URL, in the order they were added. If fields have the same name, only the first is used.
  package func headers(for url: URL) -> [HTTPHeader] {
    var result: [HTTPHeader] = []
    for field in fields where field.host?.matches(url) ?? true && !field.givesWay(to: url) {
      let header = field.header
      if result.firstValue(of: header.name) == nil { result.append(header) }
    }
    return result
  }
}

extension ImageSource {
  /// The same image with the fields for its host. Its own fields are kept. A local file is unchanged.
  package func adding(_ headers: HostHeaders) -> ImageSource {
    guard !isUserFile, !headers.isEmpty else { return self }
    let more = headers.headers(for: url).filter { self.headers.firstValue(of: $0.name) == nil }
    guard !more.isEmpty else { return self }
    return ImageSource(
      url, headers: self.headers + more, identity: identity, alternates: alternates, downloadsPerHost: downloadsPerHost)
  }
}
