import Exports
import ThumbnailCore

/// The inputs of a conversion: names only, kept close together, about 40 bytes each.
struct InputList: Sendable {
  /// A place that names are taken from.
  struct Root: Sendable {
    /// What opens it, as it was named; empty, or with a slash at its end.
    var path: [UInt8]
    /// The same from the file system's root, with links followed, and with a slash at its end.
    var absolute: [UInt8]
    /// What `{path}` begins with for its files; empty, or with a slash at its end.
    var prefix: [UInt8] = []
  }

  /// What an entry is.
  enum Kind: UInt8, Sendable {
    /// To be converted.
    case picture
    /// A file that is not named like a picture.
    case otherName
    /// A link that is not followed.
    case link
    /// Neither file nor folder nor link.
    case special
    /// A file in the output folder.
    case ownOutput
  }

  private struct Folder: Sendable {
    var root: UInt32
    /// From the root on; empty, or with a slash at its end.
    var path: [UInt8]
  }

  private struct Entry: Sendable {
    var start: UInt32
    var length: UInt16
    var kind: Kind
    var distinction = NameDistinction.plain
    var folder: UInt32
  }

  /// What could not be listed.
  struct Problem: Sendable {
    var path: RawPath
    var status: ConversionResult.Status
    var failure: ConversionFailure
  }

  private var roots: [Root] = []
  private var folders: [Folder] = []
  private var names: [UInt8] = []
  private var entries: [Entry] = []
  private(set) var problems: [Problem] = []

  /// The number of entries, without the problems.
  var count: Int { entries.count }

  /// Whether something was not listed that may hold pictures.
  var isComplete: Bool { !problems.contains { $0.status == .failed } }

  mutating func addRoot(_ root: Root) -> Int {
    roots.append(root)
    return roots.count - 1
  }

  mutating func addFolder(_ path: [UInt8], of root: Int) -> Int {
    folders.append(Folder(root: UInt32(root), path: path))
    return folders.count - 1
  }

  /// Adds a file. A name that no file system can have is left to fail when it is opened.
  mutating func add(_ name: some Collection<UInt8>, kind: Kind, in folder: Int) {
    guard name.count <= UInt16.max, names.count + name.count <= UInt32.max else {
      return addProblem(
        RawPath(bytes: name.prefix(255)), .failed, stage: .list, code: "name-too-long",
        "the name is too long; rename the file")
    }
    entries.append(
      Entry(start: UInt32(names.count), length: UInt16(name.count), kind: kind, folder: UInt32(folder)))
    names.append(contentsOf: name)
  }

  mutating func addProblem(
    _ path: RawPath, _ status: ConversionResult.Status, stage: ConversionFailure.Stage, code: String, _ message: String
  ) {
    problems.append(
      Problem(path: path, status: status, failure: ConversionFailure(stage: stage, code: code, message: message)))
  }

  /// Puts the entries from `first` on in the order of their names' bytes.
  mutating func sort(from first: Int) {
    names.withUnsafeBytes { names in
      entries[first...].sort { one, other in
        let a = names[Int(one.start)..<Int(one.start) + Int(one.length)]
        let b = names[Int(other.start)..<Int(other.start) + Int(other.length)]
        return a.lexicographicallyPrecedes(b)
      }
    }
  }

  func kind(at index: Int) -> Kind { entries[index].kind }

  func name(at index: Int) -> ArraySlice<UInt8> {
    let entry = entries[index]
    return names[Int(entry.start)..<Int(entry.start) + Int(entry.length)]
  }

  /// The path as it was named or found.
  func path(at index: Int) -> RawPath {
    let folder = folders[Int(entries[index].folder)]
    return RawPath(bytes: roots[Int(folder.root)].path + folder.path + name(at: index))
  }

  /// The path from the file system's root.
  func absolutePath(at index: Int) -> RawPath {
    let folder = folders[Int(entries[index].folder)]
    return RawPath(bytes: roots[Int(folder.root)].absolute + folder.path + name(at: index))
  }

  /// How its thumbnails are told apart from others'.
  func distinction(at index: Int) -> NameDistinction { entries[index].distinction }

  /// Whether its thumbnails have other names than the plain ones.
  func isToldApart(at index: Int) -> Bool { entries[index].distinction.changes(name(at: index)) }

  /// Has its thumbnails told apart from others' from now on.
  mutating func tellApart(_ index: Int, _ distinction: NameDistinction) { entries[index].distinction = distinction }

  /// What it contributes to the names of its thumbnails, told apart as `distinction` says or as was settled.
  func source(at index: Int, _ distinction: NameDistinction? = nil) -> NamingTemplate.Source {
    let folder = folders[Int(entries[index].folder)]
    let (name, absolutePath) = (name(at: index), absolutePath(at: index))
    return NamingTemplate.Source(
      folder: roots[Int(folder.root)].prefix + folder.path, name: Array(name), absolutePath: absolutePath,
      alias: (distinction ?? entries[index].distinction).alias(of: name, at: absolutePath))
  }
}
