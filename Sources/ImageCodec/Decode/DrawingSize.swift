import CISAL
import CVips
import Glibc

/// The size of an SVG that does not state it: that of what it shows. librsvg would draw it unscaled, in a corner.
enum DrawingSize {
  /// A drawing without a size that takes more, in bytes, is drawn as librsvg does it.
  private static let longestInflated = 32 << 20

  /// The drawing with a size and a `viewBox`; nil if it has them, or shows something else at each size.
  static func added(to file: [UInt8]) -> [UInt8]? {
    let drawing = file.starts(with: [0x1F, 0x8B]) ? inflated(file) : file
    let start = drawing.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    guard case .element("svg", let name) = XMLProlog.pass(drawing.dropFirst(start)),
      let attributes = attributes(drawing, from: name)
    else { return nil }
    func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
    let sizes = ["width", "height"]
    guard value("viewBox") == nil, !hasStyle(value("style") ?? "", of: sizes),
      !sizes.allSatisfy({ isLength(value($0)) })
    else { return nil }
    var rest = drawing
    for attribute in attributes.reversed() where sizes.contains(attribute.name) { rest.removeSubrange(attribute.range) }
    guard let shown = extent(rest, within: 100), shown == extent(rest, within: 200), shown[2] > 0, shown[3] > 0 else {
      return nil
    }
    let (width, height) = (shown[2], shown[3])
    let added = " width=\"\(width)\" height=\"\(height)\" viewBox=\"\(shown[0]) \(shown[1]) \(width) \(height)\" "
    return Array(rest[..<name]) + added.utf8 + rest[name...]
  }

  /// What is in a gzip file, which ends with its length; nothing beyond `longestInflated`, or if it is damaged.
  private static func inflated(_ file: [UInt8]) -> [UInt8] {
    let length = file.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    guard length <= longestInflated else { return [] }
    return Array(unsafeUninitializedCapacity: length) { room, written in
      written = cisal_gunzip(file, UInt32(clamping: file.count), room.baseAddress, UInt32(length))
    }
  }

  private static func isLength(_ value: String?) -> Bool {
    let text =
      (value ?? "").split(whereSeparator: \.isWhitespace).first.map { $0.first == "+" ? $0.dropFirst() : $0 } ?? ""
    return (text.first?.isNumber == true || text.first == ".") && !text.hasSuffix("%")
  }

  private static func hasStyle(_ style: String, of names: [String]) -> Bool {
    style.split(separator: ";").contains { property in
      names.contains { property.prefix { $0 != ":" }.split(whereSeparator: \.isWhitespace) == [$0[...]] }
    }
  }

  /// The attributes of a start tag from behind its name; nil if it is not well-formed.
  private static func attributes(
    _ bytes: [UInt8], from start: Int
  ) -> [(name: String, value: String, range: Range<Int>)]? {
    var found: [(name: String, value: String, range: Range<Int>)] = []
    var index = start
    while let first = bytes[index...].firstIndex(where: { $0 > 0x20 }) {
      if bytes[first] == UInt8(ascii: ">") || bytes[first] == UInt8(ascii: "/") { return found }
      guard let equals = bytes[first...].firstIndex(of: UInt8(ascii: "=")),
        let open = bytes[equals...].dropFirst().firstIndex(where: { $0 > 0x20 }), [0x22, 0x27].contains(bytes[open]),
        let close = bytes[open...].dropFirst().firstIndex(of: bytes[open])
      else { return nil }
      let name = String(decoding: bytes[first..<equals].prefix { $0 > 0x20 }, as: UTF8.self)
      found.append((name, String(decoding: bytes[open + 1..<close], as: UTF8.self), first..<close + 1))
      index = close + 1
    }
    return nil
  }

  /// The left, top, width and height of what a drawing shows in a square of this side, by librsvg, which libvips has
  /// loaded; nil if it cannot be read.
  private static func extent(_ drawing: [UInt8], within side: Double) -> [Double]? {
    typealias Open = @convention(c) (UnsafePointer<UInt8>, Int, OpaquePointer?) -> UnsafeMutableRawPointer?
    typealias Measure =
      @convention(c) (
        UnsafeMutableRawPointer, OpaquePointer?, UnsafePointer<Double>, UnsafeMutablePointer<Double>,
        UnsafeMutablePointer<Double>, OpaquePointer?
      ) -> Int32
    guard let library = dlopen("librsvg-2.so.2", RTLD_LAZY | RTLD_NOLOAD),
      let open = dlsym(library, "rsvg_handle_new_from_data"),
      let measure = dlsym(library, "rsvg_handle_get_geometry_for_layer"),
      let handle = unsafeBitCast(open, to: Open.self)(drawing, drawing.count, nil)
    else { return nil }
    defer { g_object_unref(handle) }
    // Rectangles, of which the second would also count what is not drawn.
    var (shown, unused) = ([0.0, 0, 0, 0], [0.0, 0, 0, 0])
    let isMeasured = unsafeBitCast(measure, to: Measure.self)(handle, nil, [0, 0, side, side], &shown, &unused, nil)
    return isMeasured == 0 ? nil : shown
  }
}
