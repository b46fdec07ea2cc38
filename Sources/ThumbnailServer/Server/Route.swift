import Foundation
import HTTPServer
import NIOHTTP1

/// The purpose of a request, by the first part of its path.
enum Route: String, Sendable, CaseIterable {
  case page, api, picture, login, link, thumb, imaginary, health, ready, metrics, help, cache, removed, none

  /// The addresses of imaginary that 0.10.0 still understood.
  private static let removedOperations: Set<Substring> = [
    "fit", "resize", "enlarge", "extract", "crop", "smartcrop", "rotate", "flip", "flop", "thumbnail", "convert",
    "autorotate", "info", "health",
  ]

  /// The first part of links' paths: `/s/TOKEN/…`.
  static let linkPrefix: Substring = "s"

  /// The route of a path, still percent-encoded.
  init(path: [Substring]) {
    switch path.first {
    case nil: self = .page
    case "page" where path.count == 2: self = .page
    case "api": self = .api
    case "picture": self = .picture
    case "login" where path.count <= 2: self = .login
    case Self.linkPrefix where path.count > 1: self = .link
    case "thumb": self = .thumb
    case "imgproxy": self = .removed
    case let first? where path.count == 1 && Self.removedOperations.contains(first): self = .removed
    case "healthz" where path.count == 1: self = .health
    case "readyz" where path.count == 1: self = .ready
    case "metrics" where path.count == 1: self = .metrics
    case "help" where path.count == 1: self = .help
    case "cache" where path.count == 1: self = .cache
    case "pipeline" where path.count == 1: self = .imaginary
    default: self = .none
    }
  }

  /// The reason to refuse a request with that method; nil if it is allowed.
  func problem(with method: HTTPMethod) -> ServerResponse.Problem? {
    let reads = method == .GET || method == .HEAD
    switch self {
    case .removed:
      let advice = "use /thumb, which /help explains, /pipeline as Nextcloud does, or /healthz"
      return .init(.gone, "removed", "this address of imgproxy or imaginary is no longer understood; \(advice)")
    case .none where reads: return .notFound
    case .none: return .init(.notFound, "not-found", "there is no such operation; pictures are sent to /pipeline")
    case .imaginary where method != .POST:
      return .init(
        .methodNotAllowed, "method-not-allowed", "pictures are sent with POST", headers: ["allow": "POST"])
    case .page, .picture, .thumb, .help: return reads ? nil : .methodNotAllowed
    case .api, .login, .link, .imaginary, .health, .ready, .metrics, .cache: return nil
    }
  }

  /// The parts of a target's path, without empty ones.
  static func parts(of target: String) -> [Substring] {
    // This compares bytes, because characters take ten times as long.
    let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
    return path.split(separator: UInt8(ascii: "/")).map { Substring($0) }
  }
}

/// The fields of a query, percent-decoded. If a name occurs twice, the last one counts.
struct QueryItems {
  /// The decoded values by name.
  private(set) var values: [String: String] = [:]

  init(_ query: Substring?) {
    for field in query?.split(separator: "&") ?? [] {
      let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decode(parts[0]) else { continue }
      values[name] = parts.count > 1 ? Self.decode(parts[1]) : ""
    }
  }

  subscript(_ name: String) -> String? { values[name] }

  func integer(_ name: String) -> Int? { values[name].flatMap { Int($0) } }

  private static func decode(_ text: Substring) -> String? {
    text.replacing("+", with: " ").removingPercentEncoding
  }
}
