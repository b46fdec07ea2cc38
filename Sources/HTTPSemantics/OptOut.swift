/// The directives of `X-Robots-Tag` with which a server forbids uses of an image.
package struct OptOut: Sendable, Equatable {
  /// The directives to respect, in lower case. Empty respects none.
  private let directives: Set<String>

  /// Respects these directives, such as `noai`, in any case.
  package init(_ directives: [String] = []) { self.directives = Set(directives.map { $0.lowercased() }) }

  /// Directives whose value follows a colon.
  private static let withValue: Set = [
    "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview",
  ]
  /// All that are in use: before a colon that one of them follows stands the name of a robot. Before others stands
  /// part of a date, or something unknown.
  private static let known: Set = withValue.union([
    "all", "none", "noindex", "nofollow", "noarchive", "nosnippet", "noimageindex", "notranslate", "nocache",
    "indexifembedded", "nositelinkssearchbox", "noai", "noimageai",
  ])

  /// The first directive in a response that forbids its image. A directive after the name of a robot applies if
  /// `userAgent` contains that name; the name applies up to the end of the line.
  package func directive(in headers: [HTTPHeader], userAgent: @autoclosure () -> String) -> String? {
    guard !directives.isEmpty else { return nil }
    for header in headers where header.name.isSameField(as: "X-Robots-Tag") {
      var isForUs = true
      for part in header.value.lowercased().split(separator: ",") {
        let words = part.split(separator: ":", maxSplits: 1).map { $0.trimmingSpaces() }
        guard let last = words.last else { continue }
        if words.count == 2 {
          let directive = words[1].prefix { $0 != ":" }.trimmingSpaces()
          guard !Self.withValue.contains(words[0]), Self.known.contains(directive) || directives.contains(directive)
          else { continue }
          isForUs = words[0] == "*" || Self.names(of: userAgent()).contains(words[0])
        }
        if isForUs, directives.contains(last) { return last }
      }
    }
    return nil
  }

  /// The words of a `User-Agent`, in lower case: names of programs, versions, and those of a comment.
  private static func names(of userAgent: String) -> Set<String> {
    Set(userAgent.lowercased().split { !($0.isLetter || $0.isNumber || "-_.".contains($0)) }.map(String.init))
  }
}
