import Exports
import Foundation
package import ThumbnailCore

/// Writes the pages of a site and what they use, if they have changed. Blocks.
struct SiteWriter {
  /// The token of the entries of pages.
  static let token = "page"

  let title: String
  let check: InputCheck
  let folder: OutputFolder

  /// The files of others, which stay, at the places of pages.
  private(set) var inTheWay: [RawPath] = []

  /// Has the index, if it was lost, cut or is an older one, name the pages and pictures of earlier runs, with a digest
  /// that no file has: what no run writes again is said until it is gone.
  func recover() {
    let isSite = folder.root.state(of: SiteNames.files.dropLast())?.kind == .folder
    guard isSite, check.plan.options.emptyFolders.isEmpty else { return }
    let unknown = unknown(in: [], check.plan.options.pictureExtensions.union([Array("html".utf8)]))
    guard folder.index.isEmpty || unknown.contains(where: isOfSite) else { return }
    for file in unknown { name(file, byteCount: 0, digest: 1) }
  }

  private func name(_ file: [UInt8], byteCount: Int, digest: UInt64) {
    let output = ConversionOutput(
      path: RawPath(bytes: file), size: nil, format: nil, byteCount: byteCount, digest: digest)
    folder.index.add(entry(OutputNames.key([file, []]), output))
  }

  /// The last line of a page, which tells whether it was changed since it was written for this folder of pictures.
  private func mark(_ page: some Sequence<UInt8>) -> [UInt8] {
    let digest = try? ByteSource.memory(page + check.plan.list.root.bytes).digest()
    return Array("<!-- thumbs \(digest ?? 0) -->\n".utf8)
  }

  /// Has the index, if it does not know a page that is as it was written, name it.
  private func recover(_ page: [UInt8]) {
    guard folder.index.written(page, asIn: folder.index.entries(naming: page)) == nil,
      let bytes = folder.root.bytes(of: page, atMost: 64 << 20),
      let end = bytes.dropLast().lastIndex(of: UInt8(ascii: "\n")),
      mark(bytes[...end]).elementsEqual(bytes[(end + 1)...]),
      let digest = try? ByteSource.memory(bytes).digest()
    else { return }
    name(page, byteCount: bytes.count, digest: digest)
  }

  /// The pages, pictures and copies that the index does not name, and what cannot be looked into, which is published, too.
  private func unknown(in path: [UInt8], _ ends: Set<[UInt8]>) -> [[UInt8]] {
    // Another run's has its own index.
    if !path.isEmpty, folder.root.state(of: path + ConversionIndex.name) != nil { return [] }
    guard let names = folder.root.names(in: path) else { return [path.dropLast()] }
    return names.filter { !DirectoryWalk.isHidden($0) }.flatMap { name -> [[UInt8]] in
      let file = path + name
      let mayBeOurs = file.starts(with: SiteNames.originals) || ends.contains(NamingTemplate.end(name))
      if folder.index.names(file) { return [] }
      switch folder.root.state(of: file)?.kind {
      case .folder: return unknown(in: file + [RawPath.slash], ends)
      case .link where mayBeOurs || (try? FileState(of: folder.root.path.appending(file)))?.kind == .folder:
        return [file]
      case .regular where mayBeOurs: return [file]
      default: return []
      }
    }
  }

  /// Whether a file that the index does not name is a copy, or has the name of a page and uses what a site has.
  private func isOfSite(_ file: [UInt8]) -> Bool {
    let mayBePage = RawPath(bytes: file).name.starts(with: "index".utf8)
    return file.starts(with: SiteNames.originals)
      || mayBePage && folder.root.bytes(of: file, atMost: 4 << 20)?.firstRange(of: SiteNames.files) != nil
  }

  /// Marks the folder as that of a site.
  mutating func mark() throws(WriteFailure) {
    let text = "The command thumbs site has written this folder. Galleries of folders above it leave it out.\n"
    try write(Array(text.utf8), to: DirectoryWalk.siteMarker)
  }

  mutating func write() throws(WriteFailure) {
    try mark()
    for file in SiteScript.files { try write(Array(file.text.utf8), to: SiteNames.files + Array(file.name.utf8)) }
    let content = SiteContent(check)
    var script = Array("window.searchIndex = ".utf8)
    var known: [JSONObject] = []
    for path in content.paths { known.append(try write(content[path], content)) }
    known.append(to: &script)
    try write(script + Array("\n".utf8), isPage: true, to: SiteNames.files + Array("search.js".utf8))
  }

  /// Writes the pages of an album. Returns what the search knows of it.
  private mutating func write(_ album: SiteAlbum, _ content: SiteContent) throws(WriteFailure) -> JSONObject {
    let folder = SiteNames.safe(album.path)
    var known: [JSONObject] = []
    let cells = album.albums.count + album.pictures.count
    let count = max(1, (cells + SitePage.most - 1) / SitePage.most)
    for number in 1...count {
      let cells = (number - 1) * SitePage.most..<number * SitePage.most
      let albums = album.albums.dropFirst(cells.lowerBound).prefix(SitePage.most).map { content[$0] }
      let (first, last) = (cells.lowerBound - album.albums.count, cells.upperBound - album.albums.count)
      let pictures = album.pictures.prefix(max(0, last)).dropFirst(max(0, first)).compactMap { content.picture(at: $0) }
      let page = SitePage(
        title: title, album: album, number: number, count: count,
        albums: albums.map { ($0, $0.cover.flatMap { content.picture(at: $0) }) }, pictures: pictures)
      try write(Array(page.html.utf8), isPage: true, to: folder + Array(SiteNames.page(number).utf8))
      known += pictures.map {
        [
          "name": $0.name, "image": $0.address, "month": $0.date.monthTitle, "page": SiteNames.page(number),
          "camera": $0.camera,
        ]
      }
    }
    return [
      "path": RawPath(bytes: folder).percentEncoded, "name": album.names.joined(separator: " / "), "pictures": known,
    ]
  }

  /// Writes a file, which belongs to the source folder. What is there and is not what a site has written stays.
  private mutating func write(_ text: [UInt8], isPage: Bool = false, to path: [UInt8]) throws(WriteFailure) {
    let (key, data) = (OutputNames.key([path]), Data(text + (isPage ? mark(text) : [])))
    check.note(key)
    if folder.index.entry(key) != nil, folder.root.bytes(of: path, atMost: data.count) == Array(data) { return }
    if isPage { recover(path) }
    do throws(WriteFailure) {
      _ = try folder.write(
        [.data(data)],
        of: entry(key, ConversionOutput(path: RawPath(bytes: path))), isInput: check.plan.isInput)
    } catch  where [EEXIST, EBUSY].contains(error.failure.code) {
      inTheWay.append(error.path)
    }
  }

  private func entry(_ key: UInt64, _ output: ConversionOutput) -> IndexEntry {
    IndexEntry(
      key: key, source: check.plan.list.root, modified: 0, byteCount: 0, token: Self.token, outputs: [output])
  }
}

extension FolderConverter.Options {
  /// The defaults for a gallery of static files.
  ///
  /// - Parameters:
  ///   - grid: The longer side of the thumbnails in the grid, in pixels.
  ///   - view: That of enlarged images.
  ///   - title: The title of the whole site; nil for the folder's name.
  ///   - copiesOriginals: Whether it has copies of images, with all their metadata.
  package static func site(
    of folder: RawPath, in output: RawPath, title: String?, grid: Int, view: Int, copiesOriginals: Bool
  ) -> Self {
    var options = Self(inputs: [.path(folder)], output: output)
    options.site = (title ?? String(decoding: (folder.resolved ?? folder).name, as: UTF8.self), copiesOriginals)
    options.sizes = [grid, view].map { TargetSize(PixelSize($0, $0)) }
    return options
  }
}

extension FolderConverter {
  /// Whether a folder holds what no site has written: galleries leave out all that is in the folder of a site.
  package static func hasOtherFiles(_ folder: RawPath) -> Bool {
    let isThere = { (name: [UInt8]) in !folder.appending(name).isGone }
    if isThere(DirectoryWalk.siteMarker) || isThere(ConversionIndex.name) { return false }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)")) ?? []
    return names.contains { !$0.hasPrefix(".") }
  }
}

extension Conversion {
  /// Writes the pages of a site that have changed. Call it after the last result.
  ///
  /// - Returns: The files of others that are in the way, and stay. Nil if all pages of before stay as they are, since a
  ///   folder could not be listed or its disk may be gone.
  /// - Throws: `.cannotWrite`.
  package func writePages() async throws(ConversionError) -> [RawPath]? {
    if session.index.isEmpty { return [] }
    let isComplete = plan.list.isComplete && plan.options.emptyFolders.isEmpty
    // Of a first run, what could be read is shown.
    if !isComplete, session.index.entry(OutputNames.key([Array(SiteNames.page(1).utf8)])) != nil { return nil }
    return try await writeSite { (writer) throws(WriteFailure) in try writer.write() }
  }

  /// Marks the folder of a site before anything else is in it, so that a gallery that is open leaves it out. What is in
  /// one whose index was lost is looked at first.
  func markSite() async throws(ConversionError) {
    let hasPictures = (0..<plan.list.count).contains { plan.list.kind(at: $0) == .picture }
    // Whatever the mark says, it is one.
    _ = try await writeSite { (writer) throws(WriteFailure) in
      writer.recover()
      if hasPictures { try writer.mark() }
    }
  }

  private func writeSite(
    _ body: @Sendable @escaping (inout SiteWriter) throws(WriteFailure) -> Void
  ) async throws(ConversionError) -> [RawPath] {
    guard let site = plan.options.site, let folder = session.folder else { return [] }
    let written = await pool.runToEnd { [check] in
      Result { () throws(WriteFailure) in
        var writer = SiteWriter(title: site.title, check: check, folder: folder)
        try body(&writer)
        return writer.inTheWay
      }
    }
    return try written.mapError { ConversionError.cannotWrite(path: $0.path, reason: $0.failure.reason) }.get()
  }
}
