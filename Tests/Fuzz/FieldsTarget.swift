import Foundation

@testable import HTTPSemantics
@testable import HTTPTransport

/// The head of a response, and what its fields say: freshness, validators, lengths, pauses. Whatever a server sends, no
/// time leaves its bounds, a response confirms itself, and what is sent back to the server is one well-formed line.
func fuzzFields(_ input: FuzzInput) {
  var head = ResponseHead()
  for line in input.lines(atMost: 200) { _ = line.withUnsafeBytes { head.take($0) } }
  for field in head.headers { require(!field.name.contains(":"), "a field's name holds a colon") }
  checkLength(of: head)
  checkFreshness(of: head)
  checkValidators(of: head)
  for text in head.headers.map(\.value) + [input.text] {
    checkDate(text)
    checkHost(text)
    checkControl(text)
  }
}

/// The time of every input: 1 January 2026.
private let now = Date(timeIntervalSince1970: 1_767_225_600)

private func checkLength(of head: ResponseHead) {
  require(head.contentLength ?? 0 >= 0, "a length of \(head.contentLength ?? 0)")
  require(head.contentLength == nil || head.lengthProblem == nil, "a length that is wrong and counts")
  require(head.retryAfter(now: now) ?? .zero >= .zero, "a pause that is over before it begins")
  if let etag = BodyVersion(of: head, length: head.contentLength)?.etag {
    require(etag.hasPrefix("\"") && etag.utf8.count <= 1024, "a body is resumed by \(etag)")
  }
}

private func checkFreshness(of head: ResponseHead) {
  let response = ResponseMetadata(head.headers)
  let fresh = response.freshness(head.headers, receivedAt: now, delay: 0.5)
  let lifetime = fresh.expires.timeIntervalSince(now)
  require(lifetime.isFinite && lifetime <= ResponseMetadata.longestLifetime, "fresh for \(lifetime) s")
  require(!fresh.isFresh(at: now.addingTimeInterval(ResponseMetadata.longestLifetime)), "fresh for more than a year")
  if let end = response.statedEnd(head.headers, status: head.status, receivedAt: now, delay: 0) {
    require(end.timeIntervalSince(now) <= ResponseMetadata.longestLifetime, "to be kept until \(end)")
  }
  if response.control.forbidsStoring {
    require(!response.mayBeStored(status: head.status), "stored in spite of no-store")
    require(!fresh.isFresh(at: now), "fresh in spite of no-store")
  }
}

private func checkValidators(of head: ResponseHead) {
  let response = ResponseMetadata(head.headers)
  for value in [response.etag, response.lastModified, response.cacheControl, response.expires, response.vary] {
    require(value?.utf8.count ?? 0 <= 1024, "a value of \(value?.utf8.count ?? 0) bytes is kept")
  }
  require(response.updated(by: head.headers) == response, "its own fields change a response")
  require(response.isConfirmed(by: head.headers), "a response that its own fields do not confirm")
  for condition in response.conditions { require(condition.isWellFormed, "\(condition) would be sent") }
}

private func checkDate(_ text: String) {
  guard let date = HTTPDate.parse(text, now: now) else { return }
  let written = HTTPDate.text(date)
  require(HTTPDate.parse(written, now: now) == date, "\(text) is written \(written)")
}

private func checkHost(_ text: String) {
  guard let host = HostName(parsing: text) else { return }
  require((1...65535).contains(host.port ?? 1), "port \(host.port ?? 1)")
  let name = host.host.contains(":") ? "[\(host.host)]" : host.host
  let written = name + (host.port.map { ":\($0)" } ?? "")
  require(HostName(parsing: written) == host, "\(text) is written \(written)")
  require(host.matches(host: name, port: host.port ?? 80), "\(written) does not match itself")
}

private func checkControl(_ text: String) {
  let control = CacheControl(text)
  for seconds in [control.maximumAge, control.staleIfError, control.staleWhileRevalidate] {
    require((0...2_147_483_648).contains(seconds ?? 0), "\(seconds ?? 0) s")
  }
}
