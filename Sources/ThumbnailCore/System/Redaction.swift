extension String {
  /// The text without what may be secret in its addresses: logins and the values of queries become `***`, and fragments
  /// are left out.
  ///
  /// - Parameter isAddress: Whether all of it is an address, which may contain spaces. In a sentence they end it, as
  ///   punctuation does at its end.
  package func withoutSecrets(isAddress: Bool = false) -> String { redacted(hidesQueries: true, isAddress) }

  /// The text without the logins in its addresses: `https://***@host/`.
  package var withoutLogins: String { redacted(hidesQueries: false, false) }

  private func redacted(hidesQueries: Bool, _ isAddress: Bool) -> String {
    func isWithin(_ character: Character) -> Bool {
      isAddress || !character.isWhitespace && !"\"<>”".contains(character)
    }
    var (shown, rest) = ("", self[...])
    while let scheme = rest.firstRange(of: "://") {
      shown += rest[..<scheme.upperBound]
      rest = rest[scheme.upperBound...]
      if let end = rest.prefix(while: { !"/?#".contains($0) && isWithin($0) }).lastIndex(of: "@") {
        shown += "***"
        rest = rest[end...]
      }
      var address = rest.prefix(while: isWithin)
      while !isAddress, let last = address.last, ".,:;)".contains(last) { address.removeLast() }
      // An address may be part of another's path.
      let next = address.firstRange(of: "://")?.lowerBound ?? address.endIndex
      guard hidesQueries, let mark = address.firstIndex(where: { "?#".contains($0) }), mark < next else { continue }
      let query = address[mark...].prefix { $0 != "#" }
      let fields = query.dropFirst().split(separator: "&").map { field in
        field.firstIndex(of: "=").map { "\(field[...$0])***" } ?? "***"
      }
      shown += rest[..<mark] + query.prefix(1) + fields.joined(separator: "&")
      rest = rest[address.endIndex...]
    }
    return shown + rest
  }
}
