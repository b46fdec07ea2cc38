import CGLib

/// SHA-256 (FIPS 180-4), computed by GLib's `GChecksum`.
package struct SHA256: ~Copyable {
  /// The length of a digest in bytes.
  static let byteCount = 32

  /// Owned: created here, freed with the value.
  private let checksum: OpaquePointer

  package init() {
    guard let checksum = g_checksum_new(G_CHECKSUM_SHA256) else {
      // GLib returns nil only for unknown checksum types.
      preconditionFailure("GLib has no SHA-256")
    }
    self.checksum = checksum
  }

  deinit { g_checksum_free(checksum) }

  /// Adds bytes to the hash.
  package mutating func update(_ bytes: some Sequence<UInt8>) {
    let added: Void? = bytes.withContiguousStorageIfAvailable { add($0) }
    if added == nil { Array(bytes).withUnsafeBufferPointer { add($0) } }
  }

  /// The digest of all added bytes: 32 bytes.
  package consuming func finalize() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      var length = gsize(Self.byteCount)
      g_checksum_get_digest(checksum, buffer.baseAddress, &length)
      count = Int(length)
    }
  }

  private func add(_ bytes: UnsafeBufferPointer<UInt8>) {
    g_checksum_update(checksum, bytes.baseAddress, gssize(bytes.count))
  }

  /// The digest of a sequence of bytes.
  package static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    var hash = SHA256()
    hash.update(bytes)
    return hash.finalize()
  }
}

extension Collection<UInt8> {
  /// The bytes as hexadecimal digits in lower case.
  package var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
