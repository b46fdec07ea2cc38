import ThumbnailCore

/// A folder within the folder that is shown, as an album.
package struct FolderAlbum: Sendable, Equatable {
  /// The path within the gallery's folder, as `RawPath.text`.
  package let path: String
  /// The number of images in it and in its folders.
  package internal(set) var count: Int
  /// The index of its first image in the listing.
  let cover: Int
}

/// The folders of a listing. A folder's images are neighbours, and so are those of its folders.
struct AlbumTree: Sendable {
  /// The folders, whose paths end with a slash or are empty, with the index of the first image of each.
  private var folders: [(path: [UInt8], first: Int)] = []
  private var count = 0

  mutating func append(_ record: PathRecord) {
    if folders.last.map({ record.folder.elementsEqual($0.path) }) != true {
      folders.append((Array(record.folder), count))
    }
    count += 1
  }

  /// The path of an album as those of folders are.
  static func prefix(_ album: String) -> [UInt8] {
    album.isEmpty ? [] : RawPath(text: album).bytes + [RawPath.slash]
  }

  /// The indices of the images in an album and in its folders.
  func images(of album: String) -> Range<Int> {
    let prefix = Self.prefix(album)
    guard let first = folders.firstIndex(where: { $0.path.starts(with: prefix) }) else { return 0..<0 }
    let end = folders[first...].firstIndex { !$0.path.starts(with: prefix) }
    return folders[first].first..<(end.map { folders[$0].first } ?? count)
  }

  /// The albums in an album that have images among those at `places`, ascending; nil for all.
  func albums(in album: String, of places: [UInt32]?) -> [FolderAlbum] {
    let prefix = Self.prefix(album)
    var albums: [FolderAlbum] = []
    var last: ArraySlice<UInt8>?
    for (number, folder) in folders.enumerated() where folder.path.count > prefix.count {
      guard folder.path.starts(with: prefix) else { continue }
      let end = number + 1 < folders.count ? folders[number + 1].first : count
      var (first, found) = (folder.first, end - folder.first)
      if let places {
        let start = places.partitioningIndex { $0 >= folder.first }
        found = places.partitioningIndex { $0 >= end } - start
        guard found > 0 else { continue }
        first = Int(places[start])
      }
      let name = folder.path[prefix.count...].prefix { $0 != RawPath.slash }
      if name == last {
        albums[albums.count - 1].count += found
      } else {
        let path = RawPath(bytes: prefix + name).text
        albums.append(FolderAlbum(path: path, count: found, cover: first))
      }
      last = name
    }
    return albums
  }
}
