import Foundation
import NIOCore

/// A file of a zip archive, stored without compression (PKWARE's APPNOTE.TXT, 6.3.10). What stands around its bytes has
/// the same length whatever the bytes are, so that places in an archive are known before any file is read.
struct ZipEntry: Sendable {
  /// The path in UTF-8.
  var name: [UInt8]
  /// The time of the file, in nanoseconds since 1970.
  let modified: Int
  /// The length in bytes.
  var length: Int
  /// The CRC-32 of the bytes, which follows them, because it is not known before.
  var checksum: UInt32 = 0
  /// The place in the archive at which it begins.
  var offset = 0

  /// The value of a field of 32 bits that leaves the number to a field of 64.
  private static let beyond = Int(UInt32.max)
  /// Unix, so that the permissions are understood.
  private static let madeBy: UInt16 = 3 << 8 | 45
  /// A regular file, which all may read.
  private static let permissions: UInt32 = 0o100644 << 16

  private var seconds: Int { Int((Double(modified) / 1e9).rounded(.down)) }
  private var isLong: Bool { length >= Self.beyond }

  /// What stands before the bytes.
  var header: ByteBuffer {
    fields(0x0403_4b50, checksum: 0, long: isLong ? [length, length] : [])
  }

  /// What follows the bytes.
  var descriptor: ByteBuffer {
    var bytes = ByteBuffer()
    bytes.writeMultipleIntegers(UInt32(0x0807_4b50), checksum, endianness: .little)
    if isLong {
      bytes.writeMultipleIntegers(UInt64(length), UInt64(length), endianness: .little)
    } else {
      bytes.writeMultipleIntegers(UInt32(length), UInt32(length), endianness: .little)
    }
    return bytes
  }

  /// The entry in the directory at the end of the archive.
  var record: ByteBuffer {
    let long: [Int] = (isLong ? [length, length] : []) + (offset >= Self.beyond ? [offset] : [])
    return fields(0x0201_4b50, checksum: checksum, long: long, isRecord: true)
  }

  /// The fields that the header and the record have in common, and those that only the record has.
  private func fields(_ signature: UInt32, checksum: UInt32, long: [Int], isRecord: Bool = false) -> ByteBuffer {
    var extra = ByteBuffer()
    // The time in UTC, as the clock is that of an unknown zone.
    extra.writeMultipleIntegers(
      UInt16(0x5455), UInt16(5), UInt8(1), Int32(clamping: seconds), endianness: .little)
    if !long.isEmpty {
      extra.writeMultipleIntegers(UInt16(1), UInt16(long.count * 8), endianness: .little)
      for number in long { extra.writeInteger(UInt64(number), endianness: .little) }
    }
    // The name is UTF-8, and the checksum follows the bytes.
    let flags: UInt16 = 1 << 11 | 1 << 3
    var bytes = ByteBuffer()
    bytes.writeInteger(signature, endianness: .little)
    if isRecord { bytes.writeInteger(Self.madeBy, endianness: .little) }
    bytes.writeMultipleIntegers(
      UInt16(long.isEmpty ? 20 : 45), flags, UInt16(0), clock.time, clock.date, checksum, UInt32(clamping: length),
      UInt32(clamping: length), UInt16(name.count), UInt16(extra.readableBytes), endianness: .little)
    if isRecord {
      bytes.writeMultipleIntegers(
        UInt16(0), UInt16(0), UInt16(0), Self.permissions, UInt32(clamping: offset), endianness: .little)
    }
    bytes.writeBytes(name)
    bytes.writeBuffer(&extra)
    return bytes
  }

  /// The time as MS-DOS has it, in steps of two seconds from 1980 on.
  private var clock: (time: UInt16, date: UInt16) {
    var (time, local) = (time_t(seconds), tm())
    localtime_r(&time, &local)
    guard local.tm_year >= 80 else { return (0, 1 << 5 | 1) }
    let year = min(local.tm_year - 80, 127)
    return (
      UInt16(local.tm_hour << 11 | local.tm_min << 5 | local.tm_sec / 2),
      UInt16(year << 9 | (local.tm_mon + 1) << 5 | local.tm_mday)
    )
  }

  /// What follows the records.
  static func end(count: Int, directory: Range<Int>) -> ByteBuffer {
    var bytes = ByteBuffer()
    let (size, start) = (directory.count, directory.lowerBound)
    if count >= Int(UInt16.max) || directory.upperBound >= beyond {
      bytes.writeMultipleIntegers(
        UInt32(0x0606_4b50), UInt64(44), madeBy, UInt16(45), UInt32(0), UInt32(0), UInt64(count), UInt64(count),
        UInt64(size), UInt64(start), endianness: .little)
      bytes.writeMultipleIntegers(
        UInt32(0x0706_4b50), UInt32(0), UInt64(directory.upperBound), UInt32(1), endianness: .little)
    }
    bytes.writeMultipleIntegers(
      UInt32(0x0605_4b50), UInt16(0), UInt16(0), UInt16(clamping: count), UInt16(clamping: count),
      UInt32(clamping: size), UInt32(clamping: start), UInt16(0), endianness: .little)
    return bytes
  }
}
