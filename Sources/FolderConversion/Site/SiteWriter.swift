import Exports
import Foundation
package import ThumbnailCore

/// Writes the pages of a site and what they use, if they have changed. Blocks.
struct SiteWriter {
  let title: String
  let check: InputCheck
  let folder: OutputFolder

  /// Marks the folder as that of a site.
  func mark() throws(WriteFailure) {
    let text = "The command thumbs site has written this folder. Galleries of folders above it leave it out.\n"
    try write(text, to: DirectoryWalk.siteMarker)
  }

  func write() throws(WriteFailure) {
    try mark()
    for file in SiteScript.files { try write(file.text, to: SiteNames.files + Array(file.name.utf8)) }
    let content = SiteContent(check)
    var script = Array("window.searchIndex = ".utf8)
    try content.paths.map { path throws(WriteFailure) in try write(content[path], content) }.append(to: &script)
    try write(String(decoding: script, as: UTF8.self), to: SiteNames.files + Array("search.js".utf8))
  }

  /// Writes the pages of an album. Returns what the search knows of it.
  private func write(_ album: SiteAlbum, _ content: SiteContent) throws(WriteFailure) -> JSONObject {
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
      try write(page.html, to: folder + Array(SiteNames.page(number).utf8))
      known += pictures.map {
        [
          "name": $0.name, "image": $0.address, "month": $0.date.monthTitle, "page": SiteNames.page(number),
          "camera": $0.camera, "isFilm": $0.isFilm ? true : nil,
          // No enlarged view shows it.
          "film": $0.isFilm ? $0.outputs.dropFirst(2).first?.path.percentEncoded : nil,
        ]
      }
    }
    return [
      "path": RawPath(bytes: folder).percentEncoded, "name": album.names.joined(separator: " / "), "pictures": known,
    ]
  }

  /// Writes a file, which the index has before as one of the source folder. A site's own file is written again if
  /// somebody has changed it; another's stays.
  ///
  /// - Throws: With the code `EEXIST`, if a file is there that no site has had.
  private func write(_ text: String, to path: [UInt8]) throws(WriteFailure) {
    let (key, data, target) = (OutputNames.key([path]), Data(text.utf8), folder.path.appending(path))
    check.note(key)
    let isKnown = folder.index.entry(key) != nil
    if isKnown, ThumbnailExport.holds(target, data) { return }
    if !isKnown, !target.isGone { throw WriteFailure(path: target, failure: SystemFailure(code: EEXIST)) }
    folder.index.add(
      IndexEntry(
        key: key, source: check.plan.list.root, modified: 0, byteCount: data.count, token: "page", pixels: .first,
        outputs: [ConversionOutput(path: RawPath(bytes: path), byteCount: data.count)]))
    folder.index.flush()
    try folder.write([(path, data)], times: nil)
  }
}

extension FolderConverter.Options {
  /// The defaults for a gallery of static files.
  ///
  /// - Parameters:
  ///   - grid: The longer side of the thumbnails in the grid, in pixels.
  ///   - view: That of enlarged images.
  ///   - title: The title of the whole site; nil for the folder's name.
  ///   - copiesOriginals: Whether it has copies of images and films, with all their metadata.
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
    if isThere(DirectoryWalk.siteMarker) || isThere(Array(ConversionIndex.name.utf8)) { return false }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)")) ?? []
    return names.contains { !$0.hasPrefix(".") }
  }
}

extension Conversion {
  /// Writes the pages of a site that have changed. Call it after the last result.
  ///
  /// - Returns: False if those of before stay as they are, since a folder could not be listed or its disk may be gone.
  /// - Throws: `.cannotWrite`.
  package func writePages() async throws(ConversionError) -> Bool {
    if session.index.isEmpty { return true }
    let isComplete = plan.list.isComplete && plan.options.emptyFolders.isEmpty
    // Of a first run, what could be read is shown.
    if !isComplete, session.index.entry(OutputNames.key([Array(SiteNames.page(1).utf8)])) != nil { return false }
    try await writeSite { (writer) throws(WriteFailure) in try writer.write() }
    return true
  }

  /// Marks the folder of a site before anything else is in it, so that a gallery that is open leaves it out.
  func markSite() async throws(ConversionError) {
    let hasPictures = (0..<plan.list.count).contains { plan.list.kind(at: $0) == .picture }
    if hasPictures { try await writeSite { (writer) throws(WriteFailure) in try writer.mark() } }
  }

  private func writeSite(
    _ body: @Sendable @escaping (SiteWriter) throws(WriteFailure) -> Void
  ) async throws(ConversionError) {
    guard let site = plan.options.site, let folder = session.folder else { return }
    let writer = SiteWriter(title: site.title, check: check, folder: folder)
    let written = await pool.runToEnd { Result { () throws(WriteFailure) in try body(writer) } }
    try written.mapError { ConversionError.cannotWrite(path: $0.path, reason: $0.failure.reason) }.get()
  }
}
