import Exports
import Synchronization
import ThumbnailCore

/// The names of every input's thumbnails, determined before anything is written.
struct OutputNames: Sendable {
  let template: NamingTemplate
  /// Whether the names are those of the desktop's shared thumbnails instead.
  let isOfDesktop: Bool
  let sizes: [TargetSize]
  let format: OutputFormat
  /// Whether name collisions are resolved. With a user's own template they are an error.
  let tellsApart: Bool
  /// Whether they are those of a site, whether it has copies, and the extensions of the images that may be copied.
  /// Drawings may contain scripts, and other files may be pages.
  private let (isOfSite, copies, copied): (Bool, Bool, Set<[UInt8]>)

  init(_ options: FolderConverter.Options) {
    template = options.name ?? .standard(sizeCount: options.sizes.count)
    sizes = options.sizes
    format = options.format
    tellsApart = options.name == nil
    isOfDesktop = options.desktop != nil
    let pictures = options.pipeline.readableFormats.filter { !$0.isDrawing }.flatMap(\.fileExtensions)
    isOfSite = options.site != nil
    copies = options.site?.copiesOriginals == true
    copied = Set(pictures.map { Array($0.utf8) })
  }

  /// The paths of an input's thumbnails relative to the output folder, one for each size, with `NamingTemplate.openEnd`
  /// if the extension depends on the image's content; in a site then that of the copy. Nil if the path is unusable.
  ///
  /// - Parameter copying: Whether there is a copy; nil for what the options say.
  func planned(for source: NamingTemplate.Source, copying: Bool? = nil) -> [[UInt8]]? {
    paths(for: source, end: plannedEnd(source)).map { paths in
      copying ?? copies && copied.contains(NamingTemplate.end(source.name).lowercasedASCII)
        ? paths + [SiteNames.originals + source.folder + source.name] : paths
    }
  }

  /// The paths to claim: with `same`, all that the thumbnails may get; else the planned ones, whose extensions are then
  /// the same, or open, for all inputs.
  func claimed(for source: NamingTemplate.Source) -> [[UInt8]]? {
    // With `same`, an open extension may turn out equal to the fixed one of another input.
    format == .same ? planned(for: source)?.flatMap(possiblePaths) : planned(for: source)
  }

  /// The final paths of the thumbnails, given their formats. They differ from the planned ones only if necessary.
  func paths(for source: NamingTemplate.Source, planned: [[UInt8]], written: [ImageFormat]) -> [[UInt8]] {
    let own = NamingTemplate.end(source.name)
    return zip(zip(sizes, planned), written).map { entry, format in
      let (size, planned) = entry
      if planned.contains(NamingTemplate.openEnd) { return Self.filled(planned, format.fileExtension) }
      // With `same`, the source's own extension is kept, unless it does not fit the format.
      guard self.format == .same, !format.fileExtensions.contains(Self.lowercased(own)) else { return planned }
      return path(for: source, size: size, ext: Array(format.fileExtension.utf8)) ?? planned
    } + planned.dropFirst(sizes.count)
  }

  private func paths(for source: NamingTemplate.Source, end: [UInt8]?) -> [[UInt8]]? {
    var paths: [[UInt8]] = []
    for size in sizes {
      guard let path = path(for: source, size: size, ext: end) else { return nil }
      paths.append(isOfSite ? SiteNames.safe(path) : path)
    }
    return paths
  }

  /// The path by the template. A name that no file system allows is shortened.
  private func path(for source: NamingTemplate.Source, size: TargetSize, ext: [UInt8]?) -> [UInt8]? {
    guard let path = template.path(for: source, size: size, ext: ext) else { return nil }
    let longest = Self.filled(path, "webp").split(separator: RawPath.slash).map(\.count).max() ?? 0
    return longest <= ThumbnailExport.longestName
      ? path : template.path(for: NameDistinction.shortened(source), size: size, ext: ext)
  }

  /// The extension, if the format or, with `same`, the source's own extension determines it.
  private func plannedEnd(_ source: NamingTemplate.Source) -> [UInt8]? {
    if let meant = ImageFormat(rawValue: format.rawValue) { return Array(meant.fileExtension.utf8) }
    guard format == .same else { return nil }
    let own = NamingTemplate.end(source.name)
    return Self.sameFormats.contains { $0.fileExtensions.contains(Self.lowercased(own)) } ? own : nil
  }

  /// The formats that `OutputFormat.same` keeps, if libvips can write them.
  private static let sameFormats: [ImageFormat] = [.jpeg, .png, .webp, .gif, .tiff, .avif, .jpegXL]

  private static func lowercased(_ end: [UInt8]) -> String { String(decoding: end, as: UTF8.self).lowercased() }

  /// The paths that a planned one may result in, the likeliest first.
  func possiblePaths(_ planned: [UInt8]) -> [[UInt8]] {
    guard planned.contains(NamingTemplate.openEnd) else { return [planned] }
    return ["jpg", "webp", "png"].map { Self.filled(planned, $0) }
  }

  /// The path for messages: `*` stands for an extension that is not known yet.
  static func shown(_ planned: [UInt8]) -> RawPath { RawPath(bytes: filled(planned, "*")) }

  private static func filled(_ planned: [UInt8], _ end: String) -> [UInt8] {
    guard planned.contains(NamingTemplate.openEnd) else { return planned }
    let parts = planned.split(separator: NamingTemplate.openEnd, omittingEmptySubsequences: false)
    return Array(parts.joined(separator: end.utf8))
  }

  /// The key of an input's thumbnails in the index.
  static func key(_ planned: [[UInt8]]) -> UInt64 {
    // Unambiguous, since no planned path contains two consecutive slashes.
    NamingTemplate.digest(Array(planned.joined(separator: [RawPath.slash, RawPath.slash])))
  }
}

/// Which input writes which file, for thumbnails whose final name differs from the planned one.
final class ClaimedNames: Sendable {
  private let claims: Mutex<[UInt64: UInt32]>

  init(_ claims: [UInt64: UInt32]) { self.claims = Mutex(claims) }

  /// Claims a path for an input. False if another input holds it.
  func claim(_ path: [UInt8], for index: Int) -> Bool {
    claims.withLock { claims in
      let number = NamingTemplate.seededHash(path)
      if let holder = claims[number], holder != index { return false }
      claims[number] = UInt32(index)
      return true
    }
  }
}
