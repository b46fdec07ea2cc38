package import Exports
package import ThumbnailCore
import Thumbnailer

extension PhotoOutcome {
  /// The cell on a contact sheet: links to the photo's page and names its author if known, else names its source.
  package var sheetCell: SheetCell {
    let thumbnails = results.compactMap { try? $0.get().thumbnail }
    var cell = SheetCell(
      name: shownName, url: photo.pageURL ?? SheetCell.publicAddress(of: source.url),
      pictures: thumbnails, failure: firstError?.message)
    (cell.author, cell.authorURL, cell.attribution) = (photo.author, photo.authorURL, photo.attribution)
    (cell.licence, cell.licenceURL) = (photo.licence?.name, photo.licence?.url)
    cell.source = thumbnails.first?.source
    return cell
  }

  /// The origin of the file names: the path within the searched folder, the URL in a list, or the id of a photo
  /// service.
  package var name: PictureName {
    if isListed { return PictureName(source.url) }
    var name = PictureName(photo.id, identity: "\(photo.provider):\(photo.id)")
    if source.isUserFile { name.file = RawPath(fileURL: source.url) }
    return name
  }

  private var shownName: String {
    if let title = photo.title, !title.isEmpty { return title }
    // The id of a list's photo is its full URL, which may hold secrets.
    guard isListed else { return photo.id }
    let file = source.url.lastPathComponent
    return file.isEmpty || file == "/" ? source.url.host() ?? "" : file
  }

  private var isListed: Bool { photo.provider == URLListProvider.name }
}

extension ThumbnailExport {
  /// Writes the thumbnails that succeeded, and returns the outcome of each.
  package func add(_ outcome: PhotoOutcome, variants: [Variant]) async throws(FileWriteError) -> [Outcome] {
    var outcomes: [Outcome] = []
    for (variant, result) in zip(variants, outcome.results) {
      guard let response = try? result.get() else { continue }
      outcomes.append(try await add(response.thumbnail, of: outcome.name, size: variant.size))
    }
    return outcomes
  }
}
