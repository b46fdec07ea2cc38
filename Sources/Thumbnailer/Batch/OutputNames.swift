/// The names of every input's thumbnails, told before anything is made.
struct OutputNames: Sendable {
  let template: NamingTemplate
  let sizes: [TargetSize]
  let format: OutputFormat

  init(_ options: FolderConverter.Options) {
    template = options.name ?? .standard(sizeCount: options.sizes.count)
    sizes = options.sizes
    format = options.format
  }

  /// The paths of an input's thumbnails below the output folder, one for each size, with `NamingTemplate.openEnd` where
  /// the end depends on what the picture shows. Nil when its name makes one that must not be written.
  func planned(for source: NamingTemplate.Source) -> [[UInt8]]? {
    let end = plannedEnd
    var paths: [[UInt8]] = []
    for size in sizes {
      guard let path = template.path(for: source, size: size, ext: end) else { return nil }
      paths.append(path)
    }
    return paths
  }

  /// The end of the names where the format alone decides it.
  private var plannedEnd: [UInt8]? {
    ImageFormat(rawValue: format.rawValue).map { Array($0.fileExtension.utf8) }
  }

  /// The path of a thumbnail of this format.
  func path(_ planned: [UInt8], written: ImageFormat) -> [UInt8] { Self.filled(planned, written.fileExtension) }

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

extension OutputNames {
  /// Makes sure that no two inputs would write one file. An input that was named twice counts once.
  ///
  /// - Returns: The inputs that are named before, to be left out.
  /// - Throws: `.collisions`.
  func claim(_ list: InputList, cancelled: CancellationFlag) throws(ConversionError) -> Set<Int> {
    var claims: [UInt64: UInt32] = [:]
    claims.reserveCapacity(list.count * sizes.count)
    var repeated: Set<Int> = []
    var collisions: [NameCollision] = []
    for index in 0..<list.count where list.kind(at: index) == .picture {
      if index & 1023 == 0, cancelled.isSet { throw .cancelled }
      guard let paths = planned(for: list.source(at: index)) else { continue }
      for path in paths {
        let claim = Self.claim(path)
        guard let holder = claims[claim] else {
          claims[claim] = UInt32(index)
          continue
        }
        if holder != index, Self.isSameFile(list, Int(holder), index) {
          repeated.insert(index)
          break
        }
        collisions.append(
          NameCollision(
            first: list.path(at: Int(holder)), second: list.path(at: index), output: Self.shown(path)))
      }
    }
    guard collisions.isEmpty else { throw .collisions(collisions) }
    return repeated
  }

  /// A number for a path that strangers cannot foresee, so that no names can be made to seem one.
  private static func claim(_ path: [UInt8]) -> UInt64 {
    var hasher = Hasher()
    path.withUnsafeBytes { hasher.combine(bytes: $0) }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  private static func isSameFile(_ list: InputList, _ one: Int, _ other: Int) -> Bool {
    let (first, second) = (list.absolutePath(at: one), list.absolutePath(at: other))
    if first == second { return true }
    guard let state = try? FileState(of: first), let otherState = try? FileState(of: second) else { return false }
    return state.isSameFile(as: otherState)
  }
}
