import Foundation
package import HTTPSemantics
package import ThumbnailCore

/// An object storage with S3's interface, and the keys that sign requests for its objects, `s3://bucket/key`.
///
/// Requests are signed with AWS Signature Version 4 when they are sent, for the storage's own host: a redirect drops the
/// signature. The keys are not part of cache keys: use a separate cache folder for each identity. The description hides
/// them.
package struct ObjectStorage: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The scheme of its addresses.
  package static let scheme = "s3"
  /// What to do where the environment names no keys, or an address names no object.
  package static let advice =
    "s3://bucket/key needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile with them (AWS_PROFILE); "
    + "AWS_ENDPOINT_URL is an http or https URL; with --public-addresses-only it is refused"
  /// The SHA-256 of an empty body.
  private static let emptyBody = SHA256.hash([]).hexadecimal

  /// The URL before `/bucket/key`, such as `https://s3.eu-west-1.amazonaws.com`.
  let endpoint: String
  let region: String
  private let keyID: String
  private let secret: String
  private let token: String?

  /// The storage that the environment describes: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, or
  /// else those of the profile `AWS_PROFILE` in `~/.aws/credentials`; `AWS_REGION`, `AWS_ENDPOINT_URL`. Nil without keys,
  /// or with an endpoint that is no URL.
  package init?(environment: [String: String]) {
    let environment = environment.filter { !$0.value.isEmpty }
    var values = Profile.values(environment)
    let names = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"]
    if environment["AWS_ACCESS_KEY_ID"] != nil {
      // Keys of two places would not fit each other.
      for name in names { values[name] = environment[name.uppercased()] }
    }
    guard let keyID = values[names[0]], let secret = values[names[1]] else { return nil }
    (self.keyID, self.secret, token) = (keyID, secret, values[names[2]])
    region = environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? values["region"] ?? "us-east-1"
    let named = environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"] ?? values["endpoint_url"]
    let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
    guard let url = CurlURL(named ?? "https://s3.\(region).\(domain)"), ["http", "https"].contains(url.scheme),
      !url.host.isEmpty, !url.text.contains(where: { "?#".contains($0) }),
      [keyID, token ?? "", region].allSatisfy({ HTTPHeader(Self.scheme, $0).isWellFormed })
    else { return nil }
    endpoint = url.text.hasSuffix("/") ? String(url.text.dropLast()) : url.text
  }

  /// The image of an address, `s3://bucket/key`. The key is taken literally: it is not percent-encoded, and may have
  /// `?`, `#`, `..` and several slashes. Nil for anything else.
  package func source(_ address: String, headers: [HTTPHeader] = []) -> ImageSource? {
    let bytes = Array(address.utf8)
    let prefix = Array("\(Self.scheme)://".utf8)
    guard bytes.starts(with: prefix) else { return nil }
    let path = Self.encoded(bytes[prefix.count...])
    guard let url = URL(string: "\(Self.scheme)://\(path)"), (try? location(of: url)) != nil else { return nil }
    // A name that no URL has, so that no other URL finds what was fetched with keys.
    return ImageSource(url, headers: headers, identity: "\(Self.scheme) \(endpoint)/\(path)")
  }

  /// The URL of an object, whose own one is percent-encoded.
  func location(of url: URL) throws(DownloadError) -> CurlURL {
    let parts = url.absoluteString.utf8.dropFirst("\(Self.scheme)://".utf8.count).split(
      separator: RawPath.slash, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[1].isEmpty, let first = parts[0].first, first != UInt8(ascii: "."),
      parts[0].allSatisfy({ Self.isPlain($0) })
    else { throw .invalidURL }
    let key = Self.encoded(RawPath(percentEncoded: Array(parts[1])[...]).bytes)
    return try CurlURL(parsing: "\(endpoint)/\(String(decoding: parts[0], as: UTF8.self))/\(key)", keepsDots: true)
  }

  /// The header fields that sign a GET of an object at a time.
  func signature(for url: CurlURL, at date: Date = Date()) -> [HTTPHeader] {
    var (seconds, time) = (time_t(date.timeIntervalSince1970), tm())
    gmtime_r(&seconds, &time)
    let day = String(format: "%04d%02d%02d", time.tm_year + 1900, time.tm_mon + 1, time.tm_mday)
    let stamp = day + String(format: "T%02d%02d%02dZ", time.tm_hour, time.tm_min, time.tm_sec)
    let path = url.text.drop { $0 != ":" }.dropFirst("://".count).drop { $0 != "/" }
    var fields = [HTTPHeader("x-amz-content-sha256", Self.emptyBody), HTTPHeader("x-amz-date", stamp)]
    if let token { fields.append(HTTPHeader("x-amz-security-token", token)) }
    let signed = [HTTPHeader("host", url.shownHost)] + fields
    let names = signed.map(\.name).joined(separator: ";")
    let request =
      "GET\n\(path)\n\n" + signed.map { "\($0.name):\($0.value)\n" }.joined() + "\n\(names)\n\(Self.emptyBody)"
    let scope = [day, region, "s3", "aws4_request"]
    let text =
      "AWS4-HMAC-SHA256\n\(stamp)\n\(scope.joined(separator: "/"))\n\(SHA256.hash(request.utf8).hexadecimal)"
    let key = scope.reduce(Array("AWS4\(secret)".utf8)) { HMAC.sha256($1.utf8, key: $0) }
    let value =
      "AWS4-HMAC-SHA256 Credential=\(keyID)/\(scope.joined(separator: "/")), SignedHeaders=\(names), "
      + "Signature=\(HMAC.sha256(text.utf8, key: key).hexadecimal)"
    return fields + [HTTPHeader("Authorization", value)]
  }

  /// The characters that the signature leaves as they are (RFC 3986: unreserved characters).
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte < 0x80 && isalnum(Int32(byte)) != 0 || "-._~".utf8.contains(byte)
  }

  /// A key as a path, percent-encoded with capitals, as the signature requires.
  private static func encoded(_ bytes: some Sequence<UInt8>) -> String {
    bytes.reduce(into: "") { text, byte in
      let isKept = isPlain(byte) || byte == RawPath.slash
      text += isKept ? String(UnicodeScalar(byte)) : String(format: "%%%02X", byte)
    }
  }

  /// The endpoint.
  package var description: String { endpoint }
  /// The same as `description`.
  package var debugDescription: String { description }
  /// Empty, so that dumps do not show the keys.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A profile in AWS's files of settings.
private enum Profile {
  /// The values of the profile that the environment names, or of `default`, in `~/.aws/config` and
  /// `~/.aws/credentials`, which has precedence.
  static func values(_ environment: [String: String]) -> [String: String] {
    let name = environment["AWS_PROFILE"] ?? "default"
    let folder = (environment["HOME"] ?? "") + "/.aws/"
    return values(environment["AWS_CONFIG_FILE"] ?? folder + "config", ["profile \(name)", name])
      .merging(values(environment["AWS_SHARED_CREDENTIALS_FILE"] ?? folder + "credentials", [name])) { $1 }
  }

  private static func values(_ path: String, _ sections: [String]) -> [String: String] {
    guard let data = FileManager.default.contents(atPath: path) else { return [:] }
    var (values, isWanted): ([String: String], Bool) = ([:], false)
    for line in String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline) {
      let text = line.trimmingSpaces()
      if text.hasPrefix("["), text.hasSuffix("]") {
        isWanted = sections.contains(text.dropFirst().dropLast().trimmingSpaces())
        // Indented lines belong to settings with parts, which are not read.
      } else if isWanted, line.first?.isWhitespace == false, let equals = text.firstIndex(of: "=") {
        let value = text[text.index(after: equals)...].trimmingSpaces()
        values[text[..<equals].trimmingSpaces().lowercased()] = value.isEmpty ? nil : value
      }
    }
    return values
  }
}
