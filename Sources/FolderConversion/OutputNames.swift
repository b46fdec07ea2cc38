import Exports
import Synchronization
import ThumbnailCore

/// The names of every input's thumbnails, told before anything is made.
struct OutputNames: Sendable {
  let template: NamingTemplate
  let sizes: [TargetSize]
  let format: OutputFormat
  /// Whether inputs that would write one file are told apart. A user's own template is taken at its word.
  let tellsApart: Bool

  init(_ options: FolderConverter.Options) {
    template = options.name ?? .standard(sizeCount: options.sizes.count)
    sizes = options.sizes
    format = options.format
    tellsApart = options.name == nil
  }

  /// The paths of an input's thumbnails below the output folder, one for each size, with `NamingTemplate.openEnd` where
  /// the end depends on what the picture shows. Nil when its name makes one that must not be written.
  func planned(for source: NamingTemplate.Source) -> [[UInt8]]? {
    paths(for: source, end: plannedEnd(source))
  }

  /// The paths that an input's thumbnails may turn out as, one form of each where no other input can have another.
  func claimed(for source: NamingTemplate.Source) -> [[UInt8]]? {
    // Under `same` some have the input's own end, which an open one may turn out as.
    format == .same ? planned(for: source)?.flatMap(possiblePaths) : planned(for: source)
  }

  /// The paths of its thumbnails of these formats, the planned ones as far as they are right.
  func paths(for source: NamingTemplate.Source, planned: [[UInt8]], written: [ImageFormat]) -> [[UInt8]] {
    let own = NamingTemplate.end(source.name)
    return zip(zip(sizes, planned), written).map { entry, format in
      let (size, planned) = entry
      if planned.contains(NamingTemplate.openEnd) { return Self.filled(planned, format.fileExtension) }
      // Under `same` the picture's own end stays, unless it lies.
      guard self.format == .same, !format.fileExtensions.contains(Self.lowercased(own)) else { return planned }
      return template.path(for: source, size: size, ext: Array(format.fileExtension.utf8)) ?? planned
    }
  }

  private func paths(for source: NamingTemplate.Source, end: [UInt8]?) -> [[UInt8]]? {
    var paths: [[UInt8]] = []
    for size in sizes {
      guard let path = template.path(for: source, size: size, ext: end) else { return nil }
      paths.append(path)
    }
    return paths
  }

  /// The end of the names where the format, or under `same` the picture's own name, decides it.
  private func plannedEnd(_ source: NamingTemplate.Source) -> [UInt8]? {
    if let meant = ImageFormat(rawValue: format.rawValue) { return Array(meant.fileExtension.utf8) }
    guard format == .same else { return nil }
    let own = NamingTemplate.end(source.name)
    return Self.sameFormats.contains { $0.fileExtensions.contains(Self.lowercased(own)) } ? own : nil
  }

  /// The formats that `OutputFormat.same` keeps, as far as this libvips writes them.
  private static let sameFormats: [ImageFormat] = [.jpeg, .png, .webp, .gif, .tiff, .avif, .jpegXL]

  private static func lowercased(_ end: [UInt8]) -> String { String(decoding: end, as: UTF8.self).lowercased() }

  /// The paths that a planned one may turn out as, the likeliest first.
  func possiblePaths(_ planned: [UInt8]) -> [[UInt8]] {
    guard planned.contains(NamingTemplate.openEnd) else { return [planned] }
    return ["jpg", "webp", "png"].map { Self.filled(planned, $0) }
  }

  /// A path to show: `*` stands for an end that is not known yet.
  static func shown(_ planned: [UInt8]) -> RawPath { RawPath(bytes: filled(planned, "*")) }

  private static func filled(_ planned: [UInt8], _ end: String) -> [UInt8] {
    guard planned.contains(NamingTemplate.openEnd) else { return planned }
    return planned.flatMap { $0 == NamingTemplate.openEnd ? Array(end.utf8) : [$0] }
  }

  /// What the index knows an input's thumbnails by.
  static func key(_ planned: [[UInt8]]) -> UInt64 {
    // No planned path holds two slashes in a row.
    NamingTemplate.digest(Array(planned.joined(separator: [RawPath.slash, RawPath.slash])))
  }
}

/// Which input may write which file, for those thumbnails that turn out with another name than was planned.
final class ClaimedNames: Sendable {
  private let claims: Mutex<[UInt64: UInt32]>

  init(_ claims: [UInt64: UInt32]) { self.claims = Mutex(claims) }

  /// Claims a path for an input. False when it is another's.
  func claim(_ path: [UInt8], for index: Int) -> Bool {
    claims.withLock { claims in
      let number = Self.number(path)
      if let holder = claims[number], holder != index { return false }
      claims[number] = UInt32(index)
      return true
    }
  }

  /// A number for a path that strangers cannot foresee, so that no names can be made to seem one.
  static func number(_ path: [UInt8]) -> UInt64 {
    var hasher = Hasher()
    path.withUnsafeBytes { hasher.combine(bytes: $0) }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
