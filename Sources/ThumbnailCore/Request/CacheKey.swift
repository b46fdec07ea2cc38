package import FoundationEssentials
package import HTTPSemantics

/// A source's identity and credentials as 128 bits of a SHA-256.
///
/// The digest cannot be reversed: credentials never reach the cache in a readable form.
package struct SourceKey: Hashable, Sendable {
  let high: UInt64
  package let low: UInt64

  package init(identity: String, headers: [HTTPHeader]) {
    var hash = SHA256()
    hash.update(identity.utf8)
    let fields = Self.credentials(in: headers).map { (name: $0.name.lowercased(), value: $0.value) }
    for (name, value) in fields.sorted(by: <) { hash.update("\0\(name)\0\(value)".utf8) }
    self.init(bytes: hash.finalize())
  }

  /// The header fields that are part of a key.
  static func credentials(in headers: [HTTPHeader]) -> [HTTPHeader] {
    headers.filter { !["user-agent", "referer"].contains($0.name.lowercased()) }
  }

  /// Takes the first 16 bytes; there must be as many.
  package init(bytes: some ContiguousBytes) {
    (high, low) = bytes.withUnsafeBytes { bytes in
      (
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  /// The key as 16 bytes, as it is stored.
  package var bytes: Data {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Data($0) }
  }

  /// The key as 32 hexadecimal digits, for file names.
  package var hex: String { bytes.hexadecimal }

  /// Hashes half of the digest, which is evenly distributed already.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(low)
  }
}

/// Identifies one thumbnail: which image, and which variant of it.
public struct CacheKey: Hashable, Sendable {
  /// The source image.
  package let source: SourceKey
  /// The variant.
  package let variant: Variant

  /// Makes a key.
  package init(source: SourceKey, variant: Variant) {
    self.source = source
    self.variant = variant
  }
}
