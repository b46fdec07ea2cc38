import Exports
import ThumbnailCore

/// Resolves name collisions: decides which input writes which file, before anything is written.
///
/// Works in rounds: all inputs claim the names of their thumbnails. If several claim one name, an input that has it in
/// the index keeps it, and of the others those with the lowest distinction take the next step of `NameDistinction` and
/// claim again. Because whole rounds are evaluated, the names depend only on the set of inputs and the index. Takes 16
/// bytes for each name, and 16 more for each conflict.
struct NameResolution {
  /// The identity of a file, independent of its path.
  private enum FileID: Hashable {
    case node(FileState.ID)
    case unreachable(RawPath)

    init(_ path: RawPath) {
      self = (try? FileState(of: path)).map { .node($0.id) } ?? .unreachable(path)
    }
  }

  private let names: OutputNames
  private let published: ConversionIndex
  private let cancelled: CancellationFlag
  /// Inputs that an earlier run gave the distinct names that they have.
  private var kept: Set<Int> = []
  private var conflicts: [(number: UInt64, index: UInt32)] = []
  private var collisions: [(second: Int, collision: NameCollision)] = []
  /// The input that holds each name.
  private(set) var holders: [UInt64: UInt32] = [:]
  /// Inputs that are the same file as an earlier one, to be left out.
  private(set) var repeated: Set<Int> = []

  /// Resolves the names of all inputs in the list, and sets their distinctions there.
  ///
  /// - Parameter published: The names of earlier runs.
  /// - Throws: `.collisions` if names collide with the user's own template; `.cancelled`.
  init(
    _ names: OutputNames, _ list: inout InputList, published: ConversionIndex, cancelled: CancellationFlag
  ) throws(ConversionError) {
    (self.names, self.published, self.cancelled) = (names, published, cancelled)
    // The desktop's thumbnails have the names of their pictures' URIs: two links to a file are two pictures.
    if names.isOfDesktop { return }
    holders.reserveCapacity(list.count * names.sizes.count)
    restoreNames(&list)
    for index in kept.sorted() { claim(index, list) }
    for index in 0..<list.count where list.kind(at: index) == .picture && !kept.contains(index) {
      if index & 1023 == 0, cancelled.isSet { throw .cancelled }
      claim(index, list)
    }
    while !conflicts.isEmpty {
      let pending = try settle(&list)
      guard collisions.isEmpty else {
        throw .collisions(collisions.sorted { $0.second < $1.second }.map(\.collision))
      }
      for index in pending { claim(index, list) }
    }
  }

  /// Gives inputs the names that an earlier run made distinct, although their rivals may be gone.
  private mutating func restoreNames(_ list: inout InputList) {
    guard names.tellsApart, case let keys = published.toldApart, !keys.isEmpty else { return }
    let sources = Set(keys.compactMap { published.entry($0).map { NamingTemplate.seededHash($0.source.bytes) } })
    for index in 0..<list.count where list.kind(at: index) == .picture {
      guard sources.contains(NamingTemplate.seededHash(list.absolutePath(at: index).bytes)),
        let distinction = NameDistinction.allCases.first(where: { isPublished(index, $0, list) }),
        distinction.changes(list.name(at: index))
      else { continue }
      list.tellApart(index, distinction)
      kept.insert(index)
    }
  }

  /// Whether an earlier run gave an input these names.
  private func isPublished(_ index: Int, _ distinction: NameDistinction, _ list: InputList) -> Bool {
    guard let planned = names.planned(for: list.source(at: index, distinction)) else { return false }
    return published.entry(planned, of: list.absolutePath(at: index)) != nil
  }

  private mutating func claim(_ index: Int, _ list: InputList) {
    guard let paths = names.claimed(for: list.source(at: index)) else { return }
    var own: [UInt64] = []
    for path in paths {
      let number = NamingTemplate.seededHash(path)
      if let holder = holders[number] {
        // Two sizes of one input are a conflict; a name that it holds from an earlier round is not.
        if holder != index || own.contains(number) { conflicts.append((number, UInt32(index))) }
      } else {
        holders[number] = UInt32(index)
      }
      own.append(number)
    }
  }

  /// Evaluates the conflicts of a round, and returns the inputs that claim in the next, in order.
  private mutating func settle(_ list: inout InputList) throws(ConversionError) -> [Int] {
    conflicts.sort { ($0.number, $0.index) < ($1.number, $1.index) }
    var raised: Set<Int> = []
    var pending: Set<Int> = []
    var rest = conflicts[...]
    while let number = rest.first?.number {
      if cancelled.isSet { throw .cancelled }
      let group = rest.prefix { $0.number == number }
      rest = rest[group.endIndex...]
      guard let holder = holders[number].map({ Int($0) }) else { continue }
      let others = group.map { Int($0.index) }
      let rivals = distinctFiles([holder] + others, list)
      guard rivals.count > 1 || others.contains(holder) else { continue }
      let keeper = names.tellsApart ? rivals.first { isPublished($0, list.distinction(at: $0), list) } : nil
      let leaving = rivals.filter { $0 != keeper }
      let least = leaving.map { list.distinction(at: $0) }.min() ?? .plain
      guard names.tellsApart, rivals.count > 1, least.next != nil else {
        note(number, holder, rivals.count > 1 ? rivals.dropFirst() : [holder], list)
        continue
      }
      raised.formUnion(leaving.filter { list.distinction(at: $0) == least })
      pending.formUnion(rivals)
    }
    conflicts.removeAll(keepingCapacity: true)
    for index in raised { raise(index, &list) }
    return pending.subtracting(repeated).sorted()
  }

  private mutating func raise(_ index: Int, _ list: inout InputList) {
    for path in names.claimed(for: list.source(at: index)) ?? [] {
      let number = NamingTemplate.seededHash(path)
      if holders[number] == UInt32(index) { holders[number] = nil }
    }
    list.tellApart(index, list.distinction(at: index).next ?? .hash)
  }

  /// The first input of each file; the others are recorded as repeated.
  private mutating func distinctFiles(_ indices: [Int], _ list: InputList) -> [Int] {
    var firsts: [FileID: Int] = [:]
    var distinct: [Int] = []
    for index in indices where !repeated.contains(index) {
      let id = FileID(list.absolutePath(at: index))
      if let first = firsts[id] {
        if first != index { repeated.insert(index) }
      } else {
        firsts[id] = index
        distinct.append(index)
      }
    }
    return distinct
  }

  private mutating func note(_ number: UInt64, _ holder: Int, _ others: some Sequence<Int>, _ list: InputList) {
    let paths = names.claimed(for: list.source(at: holder)) ?? []
    guard let path = paths.first(where: { NamingTemplate.seededHash($0) == number }) else { return }
    for other in others {
      let collision = NameCollision(
        first: list.path(at: holder), second: list.path(at: other), output: OutputNames.shown(path))
      collisions.append((other, collision))
    }
  }
}

/// How the names of an input's thumbnails are made distinct if the standard names collide.
///
/// Each step changes the value of `{name}`. No step depends on the order of the inputs.
enum NameDistinction: UInt8, Sendable, Comparable, CaseIterable {
  /// No collision: `IMG_1`.
  case plain
  /// With the source's own extension, in lower case: `IMG_1.heic`.
  case oldExtension
  /// And with the first eight digits of the hash of its path: `IMG_1.jpg-1f0a9b3c`.
  case digits
  /// With all sixteen digits.
  case hash

  /// The source with a shorter `{name}`, which ends with the first eight digits of the hash of its path.
  static func shortened(_ source: NamingTemplate.Source) -> NamingTemplate.Source {
    var source = source
    let mark = Array(NamingTemplate.hash(source.absolutePath).utf8.prefix(digitCount))
    source.alias = PictureName.shortened(
      source.alias ?? NamingTemplate.stem(source.name), to: longestName, mark: mark)
    return source
  }

  /// The longest `{name}` made this way, in bytes: size and extension follow, and file systems allow 255.
  private static let longestName = 200
  private static let digitCount = 8

  static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// The next step; nil after the last.
  var next: Self? { Self(rawValue: rawValue + 1) }

  /// Whether it changes the name: a name without an extension stays the same.
  func changes(_ name: some Collection<UInt8>) -> Bool {
    self > .oldExtension || self == .oldExtension && !NamingTemplate.end(name).isEmpty
  }

  /// The value of `{name}`; nil for the plain name.
  func alias(of name: some Collection<UInt8>, at absolutePath: RawPath) -> [UInt8]? {
    guard changes(name) else { return nil }
    let end = NamingTemplate.end(name)
    let hash = Array(NamingTemplate.hash(absolutePath).utf8)
    var alias = NamingTemplate.stem(name)
    if !end.isEmpty { alias += [UInt8(ascii: ".")] + end.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
    alias = PictureName.shortened(alias, to: Self.longestName, mark: Array(hash.prefix(Self.digitCount)))
    switch self {
    case .plain, .oldExtension: return alias
    case .digits: return alias + [UInt8(ascii: "-")] + hash.prefix(Self.digitCount)
    case .hash: return alias + [UInt8(ascii: "-")] + hash
    }
  }
}
