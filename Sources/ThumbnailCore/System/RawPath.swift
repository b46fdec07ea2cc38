package import FoundationEssentials
import Glibc

/// A file path as the kernel has it: bytes other than NUL, which need not be UTF-8.
public struct RawPath: Hashable, Sendable, CustomStringConvertible {
  /// The bytes.
  public let bytes: [UInt8]

  /// The path as UTF-8 text.
  public init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

  /// The path of these bytes.
  public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  /// The path of a `file` URL, percent-decoded.
  package init(fileURL url: URL) { self.init(percentEncoded: url.path(percentEncoded: true)) }

  /// The path of a percent-encoded text (`%20`). May contain a NUL.
  package init(percentEncoded text: String) { self.init(percentEncoded: Array(text.utf8)[...]) }

  /// The path of percent-encoded bytes.
  package init(percentEncoded encoded: ArraySlice<UInt8>) {
    guard encoded.contains(UInt8(ascii: "%")) else {
      self.bytes = Array(encoded)
      return
    }
    var bytes: [UInt8] = []
    var rest = encoded
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      if byte == UInt8(ascii: "%"), digits.count == 2,
        digits.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }),
        let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      {
        bytes.append(code)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    self.bytes = bytes
  }

  /// The path for display, with replacement characters for bytes that are not UTF-8.
  public var description: String { String(decoding: bytes, as: UTF8.self) }

  /// The bytes with all but letters, digits and some marks percent-encoded (`%e9`).
  package var percentEncoded: String {
    bytes.reduce(into: "") { text, byte in
      let isPlain = isalnum(Int32(byte)) != 0 && byte < 0x80 || "/-_.~".utf8.contains(byte)
      text += isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
  }

  /// The path of a text that `text` has returned.
  package init(text: String) {
    let isEncoded = text.utf8.starts(with: Self.mark)
    bytes = isEncoded ? RawPath(percentEncoded: Array(text.utf8)[Self.mark.count...]).bytes : Array(text.utf8)
  }

  /// The path as a unique text: a path that is not UTF-8 is percent-encoded behind two slashes.
  package var text: String {
    let text = bytes.starts(with: Self.mark) ? nil : String(validating: bytes, as: UTF8.self)
    return text ?? "//\(percentEncoded)"
  }

  private static let mark = Array("//".utf8)
  package static let slash = UInt8(ascii: "/")

  /// The last component, behind the last slash.
  package var name: ArraySlice<UInt8> { bytes[folder.endIndex...] }

  /// Everything up to and including the last slash; empty if there is none.
  package var folder: ArraySlice<UInt8> { bytes[..<(bytes.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0)] }

  /// The path of an entry in this folder.
  package func appending(_ name: some Collection<UInt8>) -> RawPath {
    var joined = bytes
    joined.reserveCapacity(bytes.count + 1 + name.count)
    if let last = joined.last, last != Self.slash { joined.append(Self.slash) }
    joined.append(contentsOf: name)
    return RawPath(bytes: joined)
  }

  /// Passes the path as a C string.
  package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
      for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
      buffer[bytes.count] = 0
      // A buffer of at least one element has a base address.
      return body(UnsafePointer(buffer.baseAddress.unsafelyUnwrapped))
    }
  }

  /// The absolute path with all links followed; nil if it does not exist.
  package var resolved: RawPath? {
    withCString { realpath($0, nil) }.map { found in
      defer { free(found) }
      return RawPath(bytes: UnsafeBufferPointer(start: found, count: strlen(found)).map { UInt8(bitPattern: $0) })
    }
  }

  /// What a symbolic link has; nil if this is none.
  package var destination: RawPath? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = withCString { readlink($0, &buffer, buffer.count) }
    return count > 0 ? RawPath(bytes: buffer[..<count].map { UInt8(bitPattern: $0) }) : nil
  }

  /// The absolute path of a file that may not exist yet: links are followed as far as the path exists.
  package var resolvedWhereThere: RawPath? {
    if let resolved { return resolved }
    var rest = bytes[...]
    while rest.count > 1, rest.last == Self.slash { rest = rest.dropLast() }
    let parent = RawPath(bytes: rest)
    if parent.name.isEmpty { return nil }
    let folder = parent.folder.isEmpty ? RawPath(".") : RawPath(bytes: parent.folder)
    return folder.resolvedWhereThere?.appending(parent.name)
  }

  /// Whether this, a resolved path, is `folder` or lies within it.
  package func isWithin(_ folder: RawPath) -> Bool {
    guard bytes.starts(with: folder.bytes) else { return false }
    return bytes.count == folder.bytes.count || folder.bytes.last == Self.slash
      || bytes[folder.bytes.count] == Self.slash
  }

  /// What this, a resolved path, leads to, and the folders in which that lies, however they are written: some disks know
  /// no case.
  package var places: [FileState.ID] {
    var (place, found): (RawPath, [FileState.ID]) = (self, [])
    while !place.bytes.isEmpty {
      if let state = try? FileState(of: place) { found.append(state.id) }
      place = RawPath(bytes: place.folder.dropLast())
    }
    return found + ((try? FileState(of: RawPath("/"))).map { [$0.id] } ?? [])
  }
}
