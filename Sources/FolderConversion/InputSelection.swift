import ThumbnailCore

/// The user's patterns, which count from the folder that was named, and those that have matched nothing so far.
struct InputSelection: Sendable {
  /// A pattern that has matched nothing.
  struct Unused: Sendable {
    let message: String
    /// Whether it names something that is to be left out, which is not there by this name.
    let isMistake: Bool
  }

  private let options: (include: [GlobPattern], exclude: [GlobPattern])
  private var include: [GlobPattern]
  private var exclude: [GlobPattern]
  /// The folder that they count from.
  private var folder = RawPath(".")
  private var unused: (include: Set<Int>, exclude: Set<Int>)
  /// The pattern that each choice is one of.
  private let wholes: [GlobPattern]

  init(_ options: FolderConverter.Options) {
    // Each choice of braces is looked for; a name may be the whole with its braces.
    let choices = options.exclude.flatMap(\.choices)
    (include, exclude) = (options.include, choices + options.exclude.filter { $0.choices.count > 1 })
    self.options = (include, exclude)
    unused = (Set(include.indices), Set(choices.indices))
    wholes = options.exclude.flatMap { pattern in pattern.choices.map { _ in pattern } }
  }

  /// Counts from a folder, whose path is resolved.
  mutating func enter(_ folder: RawPath) {
    self.folder = folder
    include = options.include.map { $0.counted(from: folder) }
    exclude = options.exclude.map { $0.counted(from: folder) }
  }

  /// Whether a named file or folder is left out, by its name or path, or one of a list by that of a folder in it.
  mutating func leavesOut(named path: RawPath, isListed: Bool) -> Bool {
    if options.exclude.isEmpty { return false }
    let absolute = Set(options.exclude.indices.filter { options.exclude[$0].description.hasPrefix("/") })
    let resolved = absolute.isEmpty ? nil : path.resolved?.bytes
    return [path.bytes, resolved].enumerated().contains { form, bytes in
      let names = (bytes ?? []).split(separator: RawPath.slash).filter { $0 != [0x2E] && $0 != [0x2E, 0x2E] }
      return (isListed ? 0..<names.count : max(0, names.count - 1)..<names.count).contains { last in
        let part = names[...last].joined(separator: [RawPath.slash])
        return options.exclude.indices.contains { index in
          guard form == 0 || absolute.contains(index), options.exclude[index].matches(path: part) else { return false }
          unused.exclude.remove(index)
          return true
        }
      }
    }
  }

  /// Whether a path, which is relative, is left out.
  mutating func leavesOut(_ path: some Collection<UInt8>, isFolder: Bool) -> Bool {
    excludes(path) || !isFolder && !include.isEmpty && !Self.matches(include, path, &unused.include)
  }

  /// Whether a path, which is relative, is excluded.
  mutating func excludes(_ path: some Collection<UInt8>) -> Bool { Self.matches(exclude, path, &unused.exclude) }

  private static func matches(
    _ patterns: [GlobPattern], _ path: some Collection<UInt8>, _ unused: inout Set<Int>
  ) -> Bool {
    var isMatch = false
    for (index, pattern) in patterns.enumerated() where !isMatch || unused.contains(index) {
      guard pattern.matches(path: path) else { continue }
      unused.remove(index)
      isMatch = true
    }
    return isMatch
  }

  /// Whether a file is left out, with a folder in its path or alone.
  func leavesOut(file path: ArraySlice<UInt8>) -> Bool {
    isLeftOut(folders: path + [RawPath.slash]) || !include.isEmpty && !include.contains { $0.matches(path: path) }
  }

  /// Whether a path is passed over, or a part of it that ends before a slash is excluded.
  private func isLeftOut(folders path: some Collection<UInt8>) -> Bool {
    DirectoryWalk.passesOver(path, in: folder, isAsked: false)
      || path.indices.contains { end in
        path[end] == RawPath.slash && exclude.contains { $0.matches(path: Array(path[..<end])) }
      }
  }

  /// The patterns that matched nothing in what was listed. Without those for a part of what is left out anyway, or could
  /// not be listed.
  func unusedPatterns(_ unlisted: [RawPath] = []) -> [Unused] {
    let excluded = unused.exclude.sorted().filter { index in
      if exclude[index].isWhole(folder) { return true }
      if wholes[index] != options.exclude[index], !folder.appending(Array(wholes[index].description.utf8)).isGone {
        return false
      }
      return !exclude[index].beginnings.contains { path in
        if case let place = folder.appending(path), unlisted.contains(where: { place.isWithin($0) }) { return true }
        let first = folder.appending(Array(path.prefix { $0 != RawPath.slash }))
        guard (try? FileState(of: first, followingLinks: false)) != nil else { return false }
        return isLeftOut(folders: path)
      }
    }
    // Where none has matched, no picture is found, which is said.
    let included = unused.include.count < include.count ? unused.include.sorted() : []
    return included.map { Unused(message: Self.message(include[$0], "include"), isMistake: false) }
      + excluded.map {
        exclude[$0].isWhole(folder)
          ? Unused(message: "\(exclude[$0]) is the named folder: nothing would be left (exclude)", isMistake: true)
          : Unused(message: Self.message(exclude[$0], "exclude"), isMistake: !exclude[$0].beginsWithWildcard)
      }
  }

  private static func message(_ pattern: GlobPattern, _ option: String) -> String {
    "\(pattern) matches nothing: patterns count from the named folder, and case counts; correct it, or omit it (\(option))"
  }
}
