/// Loads a pixel of a number of bytes into eight lanes and stores it. Loads may read up to eight bytes.
protocol PNGPixel {
  static var bytes: Int { get }
  static func load(_ pointer: UnsafeRawPointer) -> SIMD8<Int16>
  /// Stores exactly the pixel's bytes. Every lane must be less than 256.
  static func store(_ pixel: SIMD8<Int16>, _ pointer: UnsafeMutableRawPointer)
  /// Stores the pixel's bytes, and may write some of the next one's.
  static func storeWide(_ pixel: SIMD8<Int16>, _ pointer: UnsafeMutableRawPointer)
}

extension PNGPixel {
  @inline(__always)
  static func storeWide(_ pixel: SIMD8<Int16>, _ pointer: UnsafeMutableRawPointer) { store(pixel, pointer) }

  @inline(__always)
  fileprivate static func lanes(_ bytes: UInt64) -> SIMD8<Int16> {
    var pixel = SIMD16<UInt8>()
    pixel.evenHalf = unsafeBitCast(bytes, to: SIMD8<UInt8>.self)
    return unsafeBitCast(pixel, to: SIMD8<Int16>.self)
  }

  @inline(__always)
  fileprivate static func bytes(_ pixel: SIMD8<Int16>) -> UInt64 {
    unsafeBitCast(unsafeBitCast(pixel, to: SIMD16<UInt8>.self).evenHalf, to: UInt64.self)
  }
}

/// A pixel as long as an unsigned integer.
enum WordPixel<Word: FixedWidthInteger & UnsignedInteger>: PNGPixel {
  @inline(__always) static var bytes: Int { MemoryLayout<Word>.size }
  @inline(__always) static func load(_ pointer: UnsafeRawPointer) -> SIMD8<Int16> {
    lanes(UInt64(truncatingIfNeeded: pointer.loadUnaligned(as: Word.self)))
  }
  @inline(__always) static func store(_ pixel: SIMD8<Int16>, _ pointer: UnsafeMutableRawPointer) {
    pointer.storeBytes(of: Word(truncatingIfNeeded: bytes(pixel)), as: Word.self)
  }
}

enum ThreeBytes: PNGPixel {
  @inline(__always) static var bytes: Int { 3 }
  @inline(__always) static func load(_ pointer: UnsafeRawPointer) -> SIMD8<Int16> {
    lanes(UInt64(pointer.loadUnaligned(as: UInt32.self)))
  }
  @inline(__always) static func store(_ pixel: SIMD8<Int16>, _ pointer: UnsafeMutableRawPointer) {
    let bytes = UInt32(truncatingIfNeeded: bytes(pixel))
    pointer.storeBytes(of: UInt16(truncatingIfNeeded: bytes), as: UInt16.self)
    (pointer + 2).storeBytes(of: UInt8(truncatingIfNeeded: bytes &>> 16), as: UInt8.self)
  }
  @inline(__always) static func storeWide(_ pixel: SIMD8<Int16>, _ pointer: UnsafeMutableRawPointer) {
    pointer.storeBytes(of: UInt32(truncatingIfNeeded: bytes(pixel)), as: UInt32.self)
  }
}

enum SixBytes: PNGPixel {
  @inline(__always) static var bytes: Int { 6 }
  @inline(__always) static func load(_ pointer: UnsafeRawPointer) -> SIMD8<Int16> {
    lanes(pointer.loadUnaligned(as: UInt64.self))
  }
  @inline(__always) static func store(_ pixel: SIMD8<Int16>, _ pointer: UnsafeMutableRawPointer) {
    let bytes = bytes(pixel)
    pointer.storeBytes(of: UInt32(truncatingIfNeeded: bytes), as: UInt32.self)
    (pointer + 4).storeBytes(of: UInt16(truncatingIfNeeded: bytes &>> 32), as: UInt16.self)
  }
  @inline(__always) static func storeWide(_ pixel: SIMD8<Int16>, _ pointer: UnsafeMutableRawPointer) {
    pointer.storeBytes(of: bytes(pixel), as: UInt64.self)
  }
}
