import ThumbnailCore

/// Decodes a portable map row by row.
final class PNMRowSource: RowSource {
  let layout: RowLayout
  private let header: PNMHeader
  private let body: ByteSource
  private let isTolerant: Bool
  /// The samples of a row as levels: of 8 bits up to 255, else up to 65,535.
  private var levels: [UInt16]
  private var bytes: [UInt8]
  /// The level of each number.
  private let scale: [UInt16]
  private var row = 0
  private var blankRows = 0
  /// For text: the offset of the next window of the file, and the rest of the last one.
  private var offset: Int
  private var window: ArraySlice<UInt8> = []

  /// The level of samples whose rows are missing.
  private static let missing: UInt16 = 32_896
  /// The bytes of text that are read at a time.
  private static let windowLength = 1 << 16

  /// With `isTolerant` missing rows are grey; in a PFM they are the first.
  init(_ body: ByteSource, isTolerant: Bool = false) throws(CodecError) {
    header = try PNMHeader(body)
    (self.body, self.isTolerant, offset) = (body, isTolerant, header.start)
    layout = RowLayout(size: header.size, channels: header.channels, sample: header.isDeep ? .uint16 : .uint8)
    let count = header.size.width * header.channels
    guard header.rowBytes <= max(1, body.count) || header.isText else {
      throw .truncated(detail: "a row has \(header.rowBytes) bytes")
    }
    levels = Array(repeating: 0, count: count)
    bytes = Array(repeating: 0, count: header.isText ? 0 : header.rowBytes)
    if case .numbers(let most) = header.samples {
      let white = header.isDeep ? 65_535 : 255
      scale = (0...most).map { UInt16(($0 * white + most / 2) / most) }
    } else {
      scale = []
    }
  }

  func limit(to windows: [PixelRectangle]) { if !header.isText { blankRows = windows[0].y } }

  func read(_ receive: (RowBand) throws(CodecError) -> Void) throws(CodecError) -> Bool {
    guard row < header.size.height else { return false }
    if row < blankRows {
      row = blankRows
      try receive(.blank(count: blankRows))
      return true
    }
    if header.isText { try parseRow() } else { try readRow() }
    row += 1
    if header.isDeep {
      try pass(levels, receive)
    } else {
      try pass(levels.map { UInt8(truncatingIfNeeded: $0) }, receive)
    }
    return true
  }

  private func pass<Sample>(
    _ samples: [Sample], _ receive: (RowBand) throws(CodecError) -> Void
  ) throws(CodecError) {
    let passed: Result<Void, CodecError> = samples.withUnsafeBytes { bytes in
      Result { () throws(CodecError) in
        guard let start = bytes.baseAddress else { return }
        try receive(RowBand(start: start, stride: bytes.count, count: 1))
      }
    }
    try passed.get()
  }

  private func readRow() throws(CodecError) {
    var place = header.start + row * header.rowBytes
    if case .floats = header.samples { place = header.start + (header.size.height - 1 - row) * header.rowBytes }
    let length: Int
    do {
      length = try bytes.withUnsafeMutableBytes { try body.read(at: place, into: $0) }
    } catch {
      throw .unreadableBody(detail: "\(error)")
    }
    guard length == bytes.count else {
      guard isTolerant, case .floats = header.samples, body.count >= header.start + header.rowBytes else {
        throw truncated
      }
      for index in levels.indices { levels[index] = Self.missing }
      return
    }
    switch header.samples {
    case .bits:
      for index in levels.indices { levels[index] = bytes[index / 8] << UInt8(index % 8) & 0x80 == 0 ? 255 : 0 }
    case .numbers(let most):
      let isWide = most > 255
      for index in levels.indices {
        let number = isWide ? Int(bytes[2 * index]) << 8 | Int(bytes[2 * index + 1]) : Int(bytes[index])
        levels[index] = scale[min(number, most)]
      }
    case .floats(let isLittleEndian):
      for index in levels.indices {
        let bits = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self) }
        levels[index] = StoredColours.shown(Float(bitPattern: isLittleEndian ? bits.littleEndian : bits.bigEndian))
      }
    }
  }

  private func parseRow() throws(CodecError) {
    for index in levels.indices {
      if header.samples == .bits {
        levels[index] = try nextDigit() == UInt8(ascii: "0") ? 255 : 0
      } else {
        let number = try nextNumber()
        guard number < scale.count else { throw .damaged(.decode, detail: "a sample of \(number)") }
        levels[index] = scale[number]
      }
    }
  }

  private var truncated: CodecError { .truncated(detail: "after \(row) of \(header.size.height) rows") }

  private func nextByte() throws(CodecError) -> UInt8? {
    if window.isEmpty {
      window = try body.bytes(at: offset, length: Self.windowLength)[...]
      offset += window.count
    }
    return window.popFirst()
  }

  /// The next character that is neither blank nor in a comment.
  private func nextDigit() throws(CodecError) -> UInt8 {
    var isInComment = false
    while let byte = try nextByte() {
      if isInComment { isInComment = byte != UInt8(ascii: "\n"); continue }
      if byte == UInt8(ascii: "#") { isInComment = true; continue }
      if byte.isBlank { continue }
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
        throw .damaged(.decode, detail: "a sample that is no number")
      }
      return byte
    }
    throw truncated
  }

  private func nextNumber() throws(CodecError) -> Int {
    var number = Int(try nextDigit() - UInt8(ascii: "0"))
    while let byte = try nextByte(), !byte.isBlank {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), number < 100_000 else {
        throw .damaged(.decode, detail: "a sample that is no number")
      }
      number = 10 * number + Int(byte - UInt8(ascii: "0"))
    }
    return number
  }
}
