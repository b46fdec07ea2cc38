import CaptureDates
import Exports
import ThumbnailCore

/// The inputs of a conversion: names only, in compact form, about 40 bytes each, and 10 more if names contain dates.
struct InputList: Sendable {
  /// A folder that paths are relative to.
  struct Root: Sendable {
    /// The path to open, as it was named; empty, or with a trailing slash.
    var path: [UInt8]
    /// The absolute path with links resolved, with a trailing slash.
    var absolute: [UInt8]
    /// The prefix of `{path}` for its files; empty, or with a trailing slash.
    var prefix: [UInt8] = []
    /// Whether all in it was listed, and not files alone that were named.
    var isListed = false
    /// The folder, where links in it are not followed, whenever they come.
    var folder: RootFolder?
  }

  /// The kind of an entry.
  enum Kind: UInt8, Sendable {
    /// An input to convert.
    case picture
    /// A file without an extension of an image or a video.
    case otherName
    /// A file with an extension of a video.
    case video
    /// A RAW file or HEIC beside its JPEG, which is converted instead (`Options.pairing`).
    case paired
    /// A symbolic link that is not followed.
    case link
    /// Neither file nor folder nor link.
    case special
    /// A file in the output folder.
    case ownOutput
  }

  private struct Entry: Sendable {
    var start: UInt32
    var length: UInt16
    var kind: Kind
    var distinction = NameDistinction.plain
    var folder: UInt32
  }

  /// Something that could not be listed.
  struct Problem: Sendable {
    var path: RawPath
    var status: ConversionResult.Status
    var failure: ConversionFailure
    /// Whether it is a folder in one that was named.
    var isFolder = false
  }

  var selection: InputSelection
  private var roots: [Root] = []
  /// The folders that were listed.
  var folderIDs: Set<FileState.ID> = []
  /// What links among the inputs lead to in the output folder: it may be all that is left of originals.
  var linkedOutputs: Set<FileState.ID> = []
  /// The same by path.
  var linkedPaths: [RawPath] = []
  /// Whether there may be other such links: one leads nowhere, or a folder cannot be listed.
  var mayMissLinks = false
  /// Those that are left out, if pairs count as one picture.
  var jpegs = CompanionNames()
  /// Folders that could not be read, and files that are being written, as absolute paths.
  var unlisted: [RawPath] = []
  /// The folders, with paths relative to the root, which are empty or have a trailing slash.
  private var folders: [(root: UInt32, path: [UInt8])] = []
  private var names: [UInt8] = []
  private var entries: [Entry] = []
  private(set) var problems: [Problem] = []
  /// The dates of all entries; empty as long as none is used.
  private var dates: [CaptureDate] = []
  /// The numbers of their cameras.
  private var cameras: [UInt16] = []
  private var cameraNames = CameraNames()

  init(_ selection: InputSelection) { self.selection = selection }

  /// The number of entries, without problems.
  var count: Int { entries.count }

  /// Whether everything that may contain images was listed, except what is in `unlisted`.
  var isComplete: Bool { !problems.contains { $0.status == .failed && !$0.isFolder } }

  mutating func addRoot(_ root: Root) -> Int {
    roots.append(root)
    return roots.count - 1
  }

  mutating func addFolder(_ path: [UInt8], of root: Int) -> Int {
    folders.append((UInt32(root), path))
    return folders.count - 1
  }

  /// Adds pictures that earlier runs have found in folders that cannot be read now.
  mutating func addUnlisted(_ sources: some Sequence<RawPath>) {
    var known = listed
    for source in sources where known.insert(NamingTemplate.seededHash(source.bytes)).inserted {
      let path = RawPath(bytes: source.bytes.dropFirst(root.bytes.count))
      guard source.isWithin(root), !selection.leavesOut(file: path.bytes[...]) else { continue }
      add(path.name, kind: .picture, in: addFolder(Array(path.folder), of: 0))
    }
  }

  /// The hashes of the paths of the files that were found and are not left out.
  var listed: Set<UInt64> {
    let indices = entries.indices.filter { ![.paired, .video, .link].contains(kind(at: $0)) }
    return Set(indices.map { NamingTemplate.seededHash(absolutePath(at: $0).bytes) })
  }

  /// Whether a file in the folders that were listed is left out, by options or marks or as it lies behind a link. False
  /// if it may be there unseen; nil for those that were found, and in other folders.
  ///
  /// - Parameter listed: See `listed`.
  func leavesOut(_ source: RawPath, _ listed: Set<UInt64>) -> Bool? {
    if listed.contains(NamingTemplate.seededHash(source.bytes)) { return nil }
    let root = roots.first { $0.isListed && source.bytes.starts(with: $0.absolute) }
    // Patterns and marks need no access to the file. The patterns count from the folder that was listed last.
    if let root, roots.count(where: \.isListed) == 1,
      selection.leavesOut(file: source.bytes.dropFirst(root.absolute.count))
    {
      return true
    }
    if unlisted.contains(where: { source.isWithin($0) }) { return false }
    if root == nil { return nil }
    return source.isGone || (try? FileState(of: source, followingLinks: false)) != nil
  }

  /// Adds a file. A name too long for any file system fails when it is opened.
  mutating func add(_ name: some Collection<UInt8>, kind: Kind, in folder: Int) {
    guard name.count <= UInt16.max, names.count + name.count <= UInt32.max else {
      return addProblem(
        RawPath(bytes: name.prefix(255)), .failed, code: "name-too-long",
        "the name is too long; rename the file")
    }
    entries.append(
      Entry(start: UInt32(names.count), length: UInt16(name.count), kind: kind, folder: UInt32(folder)))
    names.append(contentsOf: name)
  }

  mutating func addProblem(
    _ path: RawPath, _ status: ConversionResult.Status, code: String, _ message: String, isFolder: Bool = false
  ) {
    let failure = ConversionFailure(stage: .list, code: code, message: message)
    problems.append(Problem(path: path, status: status, failure: failure, isFolder: isFolder))
  }

  /// Sorts the entries from `first` on bytewise by name.
  mutating func sort(from first: Int) {
    names.withUnsafeBytes { names in
      entries[first...].sort { one, other in
        let a = names[Int(one.start)..<Int(one.start) + Int(one.length)]
        let b = names[Int(other.start)..<Int(other.start) + Int(other.length)]
        return a.lexicographicallyPrecedes(b)
      }
    }
  }

  /// Reads the dates and cameras of all inputs, until `cancelled` is set.
  mutating func readDates(cancelled: CancellationFlag) {
    dates = entries.indices.map { index in
      let isRead = entries[index].kind == .picture && !cancelled.isSet
      // A file that cannot be opened fails when it is converted.
      let read = isRead ? try? DateReader.date(of: path(at: index)) : nil
      cameras.append(cameraNames.number(of: read?.camera))
      return read?.date ?? CaptureDate(name: name(at: index)) ?? CaptureDate(fileTime: 0)
    }
  }

  func kind(at index: Int) -> Kind { entries[index].kind }

  /// Changes the kind of an entry.
  mutating func set(_ kind: Kind, at index: Int) { entries[index].kind = kind }

  func name(at index: Int) -> ArraySlice<UInt8> {
    let entry = entries[index]
    return names[Int(entry.start)..<Int(entry.start) + Int(entry.length)]
  }

  /// The path as named or found.
  func path(at index: Int) -> RawPath { RawPath(bytes: folder(at: index) + name(at: index)) }

  /// The state of its file; of a link, if links are not followed.
  func state(at index: Int) throws(SystemFailure) -> FileState {
    let isBeneath = roots[Int(folders[Int(entries[index].folder)].root)].folder != nil
    return try FileState(of: path(at: index), followingLinks: !isBeneath)
  }

  /// Opens its file, through no link that is not followed.
  func open(at index: Int) throws(SystemFailure) -> OpenFile {
    let folder = folders[Int(entries[index].folder)]
    if let root = roots[Int(folder.root)].folder { return try root.file(folder.path + name(at: index)) }
    return try RootFolder.file(at: path(at: index))
  }

  /// The path of its folder, with a trailing slash; empty for the working directory.
  func folder(at index: Int) -> [UInt8] {
    let folder = folders[Int(entries[index].folder)]
    return roots[Int(folder.root)].path + folder.path
  }

  /// An absolute path in one of the roots, with or without links, as it is opened.
  func opened(_ path: RawPath) -> [UInt8] {
    for root in roots {
      let written = DesktopPicture.canonical(RawPath(bytes: root.path)).map { $0.bytes + [RawPath.slash] }
      for start in [root.absolute, written ?? []] where !start.isEmpty && path.bytes.starts(with: start) {
        return root.path + path.bytes[start.count...]
      }
    }
    return path.bytes
  }

  /// The absolute path.
  func absolutePath(at index: Int) -> RawPath {
    let folder = folders[Int(entries[index].folder)]
    return RawPath(bytes: roots[Int(folder.root)].absolute + folder.path + name(at: index))
  }

  /// The absolute path of one in a root.
  func absolutePath(_ path: [UInt8], of root: Int) -> RawPath { RawPath(bytes: roots[root].absolute + path) }

  /// The absolute path of the folder that was named first.
  var root: RawPath { RawPath(bytes: roots.first?.absolute ?? []) }

  /// The path of its folder relative to the folder that was named; empty, or with a trailing slash.
  func album(at index: Int) -> [UInt8] { folders[Int(entries[index].folder)].path }

  /// When it was taken, if the dates were read.
  func date(at index: Int) -> CaptureDate { dates[index] }

  /// The camera, if the dates were read; empty if it is unknown.
  func camera(at index: Int) -> String { cameraNames.names[Int(cameras[index])] }

  /// How its thumbnails' names are made distinct.
  func distinction(at index: Int) -> NameDistinction { entries[index].distinction }

  /// Whether its thumbnails' names differ from the plain ones.
  func isToldApart(at index: Int) -> Bool { entries[index].distinction.changes(name(at: index)) }

  /// Sets how its thumbnails' names are made distinct.
  mutating func tellApart(_ index: Int, _ distinction: NameDistinction) { entries[index].distinction = distinction }

  /// The input of the naming template, with the given distinction or its own.
  func source(at index: Int, _ distinction: NameDistinction? = nil) -> NamingTemplate.Source {
    let folder = folders[Int(entries[index].folder)]
    let (name, absolutePath) = (name(at: index), absolutePath(at: index))
    return NamingTemplate.Source(
      folder: roots[Int(folder.root)].prefix + folder.path, name: Array(name), absolutePath: absolutePath,
      alias: (distinction ?? entries[index].distinction).alias(of: name, at: absolutePath),
      date: dates.isEmpty ? nil : dates[index].day)
  }
}

extension FolderConverter.Options {
  /// The handling of one picture that a camera has stored in two files.
  package enum Pairing: String, Sendable, CaseIterable {
    /// Each file is a picture of its own.
    case none
    /// A RAW file or HEIC is left out if a JPEG of the same name is converted from the same folder.
    case preferJPEG = "prefer-jpeg"
  }
}

extension InputList {
  /// Leaves out RAW files and HEICs beside their JPEGs, whether those are converted or left out.
  mutating func leaveOutPaired() {
    let pictures = entries.indices.filter { self.kind(at: $0) == .picture }
    for index in pictures { jpegs.add(absolutePath(at: index)) }
    for index in pictures where jpegs.haveJPEG(beside: absolutePath(at: index)) { set(.paired, at: index) }
  }
}

extension Collection<UInt8> {
  /// The same with the letters A to Z in lower case.
  var lowercasedASCII: [UInt8] { map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
}
