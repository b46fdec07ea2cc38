public import Exports
public import ThumbnailCore
import Thumbnailer

extension PhotoOutcome {
  /// The picture on a contact sheet: with its page and its author where the source tells, and else with what was fetched.
  public var sheetCell: SheetCell {
    let thumbnails = results.compactMap { try? $0.get().thumbnail }
    var cell = SheetCell(
      name: shownName, url: photo.pageURL ?? SheetCell.publicAddress(of: source.url),
      pictures: thumbnails.map(SheetCell.Picture.init), failure: firstError?.message)
    (cell.author, cell.authorURL, cell.attribution) = (photo.author, photo.authorURL, photo.attribution)
    (cell.licence, cell.licenceURL) = (photo.licence?.name, photo.licence?.url)
    cell.source = thumbnails.first?.source
    return cell
  }

  /// What the names of the picture's files are made of: its path below the folder that was searched, its address in a
  /// list, or the id that a photo service gives it.
  public var name: PictureName {
    if isListed && !source.isUserFile { return PictureName(source.url) }
    let path = isListed ? source.url.lastPathComponent : photo.id
    return PictureName(path, identity: "\(photo.provider):\(photo.id)")
  }

  private var shownName: String {
    if let title = photo.title, !title.isEmpty { return title }
    // The id of what stands in a list is its whole address, which may hold secrets.
    guard isListed else { return photo.id }
    let file = source.url.lastPathComponent
    return file.isEmpty || file == "/" ? source.url.host() ?? "" : file
  }

  private var isListed: Bool { photo.provider == URLListProvider.name }
}

extension ThumbnailExport {
  /// Writes the thumbnails of a picture that were made, and tells what became of each.
  public func add(_ outcome: PhotoOutcome, variants: [Variant]) async throws(ExportError) -> [Outcome] {
    var outcomes: [Outcome] = []
    for (variant, result) in zip(variants, outcome.results) {
      guard let response = try? result.get() else { continue }
      outcomes.append(try await add(response.thumbnail, of: outcome.name, size: variant.size))
    }
    return outcomes
  }
}
