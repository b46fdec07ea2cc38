import CaptureDates
import ThumbnailCore

/// An image of a site, and its files that the index of the output folder knows.
struct SitePicture {
  /// The name of its source.
  let name: String
  let date: CaptureDate
  let camera: String
  /// The size of its source in pixels.
  let size: PixelSize?
  /// The thumbnails for the grid and the enlarged view, and the copy of the source if there is one.
  let outputs: [ConversionOutput]

  /// The address of the grid's thumbnail from its page, which is the image's identifier there.
  var address: String { RawPath(bytes: outputs[0].path.name).percentEncoded }
}

/// A folder of a site.
struct SiteAlbum {
  /// The path of the source folder in that of the whole site; empty, or with a trailing slash.
  let path: [UInt8]
  /// The inputs that lie in it, the newest first.
  var pictures: [Int] = []
  /// The paths of the albums in it.
  var albums: [[UInt8]] = []
  /// The number of images in it and in all albums below.
  var count = 0
  /// The input whose image is shown for it.
  var cover: Int?

  /// The names of the albums from the site's first to this one, without the site's title.
  var names: [String] { path.split(separator: RawPath.slash).map { String(decoding: $0, as: UTF8.self) } }
  /// The path of the album that it is in.
  var parent: [UInt8] { Array(RawPath(bytes: path.dropLast()).folder) }
}

/// The albums of a site and their images, found in the plan of a conversion and its index.
struct SiteContent {
  private let check: InputCheck
  private var albums: [[UInt8]: SiteAlbum] = [[]: SiteAlbum(path: [])]

  /// Takes a few words of memory for each image.
  init(_ check: InputCheck) {
    self.check = check
    let list = check.plan.list
    for index in 0..<list.count where picture(at: index) != nil {
      var path = list.album(at: index)
      albums[path, default: SiteAlbum(path: path)].pictures.append(index)
      while let album = albums[path], albums[album.parent] == nil {
        path = album.parent
        albums[path] = SiteAlbum(path: path)
      }
    }
    // An album comes before the one that it is in.
    for path in paths.reversed() {
      var album = self[path]
      album.pictures.sort { (list.date(at: $1).clock, $0) < (list.date(at: $0).clock, $1) }
      album.albums.reverse()
      album.count += album.pictures.count
      album.cover = album.pictures.first ?? album.albums.lazy.compactMap { [self] in self[$0].cover }.first
      albums[path] = album
      if path.isEmpty { continue }
      albums[album.parent]?.albums.append(path)
      albums[album.parent]?.count += album.count
    }
  }

  /// The paths of all albums, in order.
  var paths: [[UInt8]] { albums.keys.sorted { $0.lexicographicallyPrecedes($1) } }

  /// The album of a path.
  subscript(path: [UInt8]) -> SiteAlbum { albums[path] ?? SiteAlbum(path: path) }

  /// The image of an input; nil if it has no thumbnails.
  func picture(at index: Int) -> SitePicture? {
    let (list, names) = (check.plan.list, check.plan.names)
    guard list.kind(at: index) == .picture, !check.plan.claims.repeated.contains(index),
      let planned = names.planned(for: list.source(at: index)), let entry = check.index.entry(OutputNames.key(planned)),
      entry.source == list.absolutePath(at: index), entry.outputs.count == planned.count,
      entry.outputs.allSatisfy(check.isThere)
    else { return nil }
    return SitePicture(
      name: String(decoding: list.name(at: index), as: UTF8.self), date: list.date(at: index),
      camera: list.camera(at: index), size: entry.sourceSize, outputs: entry.outputs)
  }
}
