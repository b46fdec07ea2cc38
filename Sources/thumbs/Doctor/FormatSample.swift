import DecodeSandbox
import Foundation
import ImageCodec
import ThumbnailCore

/// A tiny image of each format, to test whether this machine can read it.
enum FormatSample {
  /// The bytes of the image file.
  static func bytes(of format: ImageFormat) -> [UInt8] {
    switch format {
    case .svg: Array(svg.utf8)
    case .pnm: Array("P6 1 1 255\n".utf8) + [200, 100, 50]
    case .raw: decoded(format) + decoded(.jpeg)
    default: decoded(format)
    }
  }

  private static func decoded(_ format: ImageFormat) -> [UInt8] {
    Array(Data(base64Encoded: encoded[format] ?? "", options: .ignoreUnknownCharacters) ?? Data())
  }

  private static let svg =
    #"<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path fill="red" d="M0 0h8v8H0z"/></svg>"#

  /// 4×4 or 8×8 pixels, one empty page for PDF. A RAW file is a header, and the JPEG follows.
  private static let encoded: [ImageFormat: String] = [
    .jpeg: """
    /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeF
    xlZ2P/wAALCAAEAAQBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAABf/EABoQAAAHAAAAAAAAAAAAAAAAAAABBAUGEyP/2gAIAQEAAD8AUSxtsoLAf//Z
    """,
    .png: """
    iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAAPUlEQVR42mNgSPnFn/JaLuWObspZBpuUfd4p66NSFmSmTGSoSGlqTymelpKyNCWUYU
    uK2+EU80spGg9TJAE3ghXhSlnFuAAAAABJRU5ErkJggg==
    """,
    .webp: "UklGRjYAAABXRUJQVlA4TCkAAAAvA8AAAH8gEEiC3V9jhXl4vP78Z5YDQQDEghYtWrRo0aJFR0T/A5TTHQA=",
    .gif: "R0lGODdhBAAEAIEAAMPDw4CAgERERA8PDywAAAAABAAEAAAIDwAHCBRAUECAgwEAKFQYEAA7",
    .tiff: """
    SUkqABgAAAAADx4tPEtaaXiHlqW0w9LhCQAAAQMAAQAAAAQAAAABAQMAAQAAAAQAAAACAQMAAQAAAAgAAAADAQMAAQAAAAEAAAAGAQMAAQAAAAEAAA
    ARAQQAAQAAAAgAAAAVAQMAAQAAAAEAAAAWAQMAAQAAAAQAAAAXAQQAAQAAABAAAAAAAAAA
    """,
    .heif: """
    AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAa1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAAAA
    ACAAAAEGlkYXQAAAAAAAgACAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHRAAEAAAAAAAAATwACAAEAAAAAAAAAAQAAAAAAAAAIAAAAOGlpbmYAAAAA
    AAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAAAADYaXBycAAAALZpcGNvAAAAdmh2Y0MBA3AAAAAAAAAAAAAe8AD8/f
    j4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAeugJAIQABACpCAQEDcAAAAwCQAAADAAADAB6gIIEFluqumubgQEDAgAAAAwCAAAADAIQiAAEA
    BkQBwXPBiQAAABRpc3BlAAAAAAAAAEAAAABAAAAAFGlzcGUAAAAAAAAACAAAAAgAAAAQcGl4aQAAAAADCAgIAAAAGmlwbWEAAAAAAAAAAgABAoECAA
    ICA4QAAAAaaXJlZgAAAAAAAAAOZGltZwACAAEAAQAAAFdtZGF0AAAASygBrxMhd2NA5ugLQlzXCRAaI5U6jdgZuRONlUmDy4/EII3GwPHBx+RUbDnb
    aeN7BM8W3jCoKOw3+Cbt5lODaVN3SAimMeNIAgJ1gA==
    """,
    .avif: """
    AAAAHGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZgAAAOptZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAAAA
    ABAAAAImlsb2MAAAAAREAAAQABAAAAAAEOAAEAAAAAAAAAIQAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEAAGF2MDEAAAAAamlwcnAAAABLaXBj
    bwAAABNjb2xybmNseAACAAIABoAAAAAMYXYxQ4EADAAAAAAUaXNwZQAAAAAAAAAIAAAACAAAABBwaXhpAAAAAAMICAgAAAAXaXBtYQAAAAAAAAABAA
    EEgYIDhAAAACltZGF0EgAKCBgIv2CBAQNCMhMYAAAAQDz2GRkT/8Vcii5xpnyA
    """,
    .raw: """
    SUkqAAgAAAAGAP4ABAABAAAAAQAAAAMBAwABAAAABwAAABEBBAABAAAAVgAAABIBAwABAAAAAQAAABcBBAABAAAAqwAAABLGAQAEAAAAAQQAAAAAAA
    A=
    """,
    .pdf: """
    JVBERi0xLjQKMSAwIG9iajw8L1R5cGUvQ2F0YWxvZy9QYWdlcyAyIDAgUj4+ZW5kb2JqCjIgMCBvYmo8PC9UeXBlL1BhZ2VzL0tpZHNbMyAwIFJdL0
    NvdW50IDE+PmVuZG9iagozIDAgb2JqPDwvVHlwZS9QYWdlL1BhcmVudCAyIDAgUi9NZWRpYUJveFswIDAgOSA5XT4+ZW5kb2JqCnhyZWYKMCA0CjAw
    MDAwMDAwMDAgNjU1MzUgZiAKMDAwMDAwMDAwOSAwMDAwMCBuIAowMDAwMDAwMDUyIDAwMDAwIG4gCjAwMDAwMDAxMDEgMDAwMDAgbiAKdHJhaWxlcj
    w8L1NpemUgNC9Sb290IDEgMCBSPj4Kc3RhcnR4cmVmCjE2MAolJUVPRg==
    """,
    .jpegXL: "/wpBBgEQAZNhCQCACpVRxg1ezvV8+aHDYtrGdYa22rawhLHZXhgkJIklYOMGCwEYADendLoFKkkkIvJ2v9IGJJq/u/uEQK1nkxoK",
    .jpeg2000: """
    AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAABAAAAAQAAQcHAAAAAAAPY29scgEAAAAAABEAAACVanAyY/
    9P/1EAKQAAAAAABAAAAAQAAAAAAAAAAAAAAAQAAAAEAAAAAAAAAAAAAQcBAf9SAAwAAAABAAAEBAAB/1wABEBA/2QAJQABQ3JlYXRlZCBieSBPcGVu
    SlBFRyB2ZXJzaW9uIDIuNS4w/5AACgAAAAAAIwAB/5PfgJASD4Sf1GZzQdtUUvMvpJd813//2Q==
    """,
    .openEXR: """
    di8xAQIAAABjaGFubmVscwBjaGxpc3QAEwAAAFkAAQAAAAAAAAABAAAAAQAAAABjb21wcmVzc2lvbgBjb21wcmVzc2lvbgABAAAAAGRhdGFXaW5kb3
    cAYm94MmkAEAAAAAAAAAAAAAAAAwAAAAMAAABkaXNwbGF5V2luZG93AGJveDJpABAAAAAAAAAAAAAAAAMAAAADAAAAbGluZU9yZGVyAGxpbmVPcmRl
    cgABAAAAAHBpeGVsQXNwZWN0UmF0aW8AZmxvYXQABAAAAAAAgD9zY3JlZW5XaW5kb3dDZW50ZXIAdjJmAAgAAAAAAAAAAAAAAHNjcmVlbldpbmRvd1
    dpZHRoAGZsb2F0AAQAAAAAAIA/ADUBAAAAAAAARQEAAAAAAABVAQAAAAAAAGUBAAAAAAAAAAAAAAgAAAAAOAA4ADgAOAEAAAAIAAAAADgAOAA4ADgC
    AAAACAAAAAA4ADgAOAA4AwAAAAgAAAAAOAA4ADgAOA==
    """,
    .bmp: """
    Qk1mAAAAAAAAADYAAAAoAAAABAAAAAQAAAABABgAAAAAADAAAADEDgAAxA4AAAAAAAAAAAAARmS0N2TDKGTSGWThgmR4c2SHZGSWVWSlvmQ8r2RLoG
    RakWRp+mQA62QP3GQezWQt
    """,
    .ico: """
    AAABAAEABAQAAAAAIABoAAAAFgAAACgAAAAEAAAACAAAAAEAIAAAAAAAQAAAAMQOAADEDgAAAAAAAAAAAABGZLT/N2TD/yhk0v8ZZOH/gmR4/3Nkh/
    9kZJb/VWSl/75kPP+vZEv/oGRa/5Fkaf/6ZAD/62QP/9xkHv/NZC3/
    """,
    .radiance: """
    Iz9SQURJQU5DRQpGT1JNQVQ9MzItYml0X3JsZV9yZ2JlCgotWSA0ICtYIDQKgGQygYBkMoGAZDKBgGQygYBkMoGAZDKBgGQygYBkMoGAZDKBgGQygY
    BkMoGAZDKBgGQygYBkMoGAZDKBgGQygQ==
    """,
  ]
}

/// Tests whether a format can be read or written on this machine by doing so with a tiny image: that libvips has the
/// operation does not mean that the library behind it works.
///
/// Blocks; call it on a thread of a pool that calls `Codec.threadWillEnd()`.
enum FormatTrial {
  /// Why a format cannot be read in a helper, or without helpers in this process; nil if it can.
  static func reading(_ format: ImageFormat, in helpers: HelperPool?) -> CodecError? {
    do throws(CodecError) {
      let request = HelperRequest(format, [Variant(size: box, format: .jpeg)])
      _ = try request.raster(of: .memory(FormatSample.bytes(of: format)), in: helpers)
      return nil
    } catch {
      return error
    }
  }

  /// Why a format cannot be written; nil if it can.
  static func writing(_ format: ImageFormat) -> CodecError? {
    do throws(CodecError) {
      let raster = try Raster(size: box, bands: 3) { samples throws(CodecError) in
        for index in samples.indices { samples[index] = UInt8(truncatingIfNeeded: index * 5) }
      }
      let output = OutputFormat(rawValue: format.rawValue) ?? .same
      let data = try Encoder.encode(raster, for: Variant(size: box, format: output), source: format).data
      return data.isEmpty ? .damaged(.encode, detail: "nothing came out") : nil
    } catch {
      return error
    }
  }

  private static let box = PixelSize(4, 4)
}
