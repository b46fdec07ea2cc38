import Foundation

/// Names for files of thumbnails whose pictures are known by their addresses. No two are the same.
///
/// `{path}` is the host and the folders of a URL, or the folders of a file from the root on; `{hash}` stands for the
/// picture with its query and credentials. Addresses come from anywhere: what would lead out of the folder, hide a file or
/// move a terminal's cursor is replaced by `_`, and names that are too long are shortened.
public struct ExportNames: Sendable {
  /// The host and the folders, with the box, as several of them may be there.
  public static var standard: NamingTemplate { .standard(sizeCount: 2) }

  /// The most bytes that a file's or folder's name has, so that all file systems take it.
  private static let longestName = 240

  private let template: NamingTemplate
  /// Digests of the names that were given.
  private var given: Set<UInt64> = []

  /// Makes names after a template; nil takes `standard`.
  public init(_ template: NamingTemplate? = nil) { self.template = template ?? Self.standard }

  /// The path of a file below the folder, which no other call has returned.
  ///
  /// - Parameters:
  ///   - location: A URL, without secrets.
  ///   - picture: Tells pictures of one address apart.
  ///   - variant: Tells thumbnails of one picture apart, and has the box that `{size}` and its like stand for. Nil for
  ///     one that is not known.
  ///   - thumbnail: Its size in pixels stands in for the box where that is not known.
  ///   - format: What the thumbnail is in.
  public mutating func path(
    location: String, picture: SourceKey, variant: Variant?, size thumbnail: PixelSize, format: ImageFormat
  ) -> RawPath {
    let (folder, name) = Self.parts(of: location)
    let source = NamingTemplate.Source(folder: folder, name: name, absolutePath: RawPath(picture.hex))
    let end = Array(format.fileExtension.utf8)
    let path =
      template.path(for: source, size: TargetSize(variant?.size ?? thumbnail), ext: end)
      ?? Array("\(picture.hex).\(format.fileExtension)".utf8)
    let shortened = Self.shortened(path)
    if given.insert(NamingTemplate.digest(shortened)).inserted { return RawPath(bytes: shortened) }
    let mark = NamingTemplate.digest(Array("\(picture.hex);\(variant?.token ?? "\(thumbnail)");\(format)".utf8))
    let marked = Self.shortened(Self.marked(shortened, "-" + NamingTemplate.hex(mark).prefix(8)))
    given.insert(NamingTemplate.digest(marked))
    return RawPath(bytes: marked)
  }

  /// What an address contributes: the folder with a slash at its end, and the name.
  private static func parts(of location: String) -> (folder: [UInt8], name: [UInt8]) {
    let afterScheme = location.range(of: "://").map { location[$0.upperBound...] } ?? location[...]
    var parts = afterScheme.split(separator: "/", omittingEmptySubsequences: true).map { fit(String($0)) }
    // The address of a host's root names nothing.
    if afterScheme.hasSuffix("/") || parts.count == 1 && !location.hasPrefix("file:") { parts.append("index") }
    let name = parts.popLast() ?? "index"
    return (Array(parts.map { $0 + "/" }.joined().utf8), Array(name.utf8))
  }

  /// One part of an address as a name that may be written.
  private static func fit(_ part: String) -> String {
    let bytes = RawPath(percentEncoded: part).bytes
    var scalars = String.UnicodeScalarView()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      scalars.append(isUnfit(scalar) ? "_" : scalar)
    }
    let name = String(scalars)
    // Neither a way up nor a hidden file.
    return name.hasPrefix(".") ? "_" + name.dropFirst() : name
  }

  private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
    default: "/\\:".unicodeScalars.contains(scalar)
    }
  }

  /// The path with a mark before the end of its name.
  private static func marked(_ path: [UInt8], _ mark: String) -> [UInt8] {
    let start = path.lastIndex(of: RawPath.slash).map { $0 + 1 } ?? 0
    let end = NamingTemplate.end(path[start...])
    let stem = NamingTemplate.stem(path[start...])
    return Array(path[..<start]) + stem + Array(mark.utf8) + dotted(end)
  }

  private static func dotted(_ end: [UInt8]) -> [UInt8] { end.isEmpty ? [] : [UInt8(ascii: ".")] + end }

  /// The path with each part that is too long cut, and a digest in place of its rest.
  private static func shortened(_ path: [UInt8]) -> [UInt8] {
    let parts = path.split(separator: RawPath.slash)
    guard parts.contains(where: { $0.count > longestName }) else { return path }
    return Array(
      parts.map { part -> [UInt8] in
        guard part.count > longestName else { return Array(part) }
        let end = NamingTemplate.end(part).count <= 8 ? NamingTemplate.end(part) : []
        let mark = "~" + NamingTemplate.hex(NamingTemplate.digest(Array(part))).prefix(8)
        var stem = part.prefix(longestName - mark.utf8.count - end.count - 1)
        // Not in the middle of a character.
        while let last = stem.last, last & 0xC0 == 0x80 { stem.removeLast() }
        if let last = stem.last, last >= 0xC0 { stem.removeLast() }
        return Array(stem) + Array(mark.utf8) + dotted(end)
      }.joined(separator: [RawPath.slash]))
  }
}
