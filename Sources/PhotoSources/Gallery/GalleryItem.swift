/// A photo at a position in a gallery.
///
/// Cheap to copy: all copies share the photo.
public struct GalleryItem: Identifiable, Equatable, Sendable {
  /// Identifies an item within a gallery.
  public struct ID: Hashable, Sendable, CustomStringConvertible {
    /// The photo's id as bytes: ids that are only canonically equivalent as Unicode are different photos.
    let key: [UInt8]
    /// The round that the item belongs to: see `GalleryItem.round`.
    package let round: Int
    /// Computed once, because it compares lists of a hundred thousand items.
    private let digest: Int

    init(_ photo: Photo, round: Int) {
      key = Array(photo.provider.utf8) + [0] + photo.fingerprint
      self.round = round
      var hasher = Hasher()
      key.withUnsafeBytes { hasher.combine(bytes: $0) }
      hasher.combine(round)
      digest = hasher.finalize()
    }

    /// Whether both name the same photo in the same round.
    public static func == (lhs: Self, rhs: Self) -> Bool {
      lhs.digest == rhs.digest && lhs.round == rhs.round && lhs.key == rhs.key
    }

    /// Feeds the precomputed hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// A unique text for use as an id in other systems.
    public var description: String {
      let text = key.map { byte in
        let isPlain = 0x20 < byte && byte < 0x7f && byte != UInt8(ascii: "~")
        return isPlain ? String(UnicodeScalar(byte)) : (byte < 16 ? "~0" : "~") + String(byte, radix: 16)
      }.joined()
      return round == 0 ? text : "\(text)~~\(round)"
    }
  }

  private final class Box: Sendable {
    let photo: Photo
    init(_ photo: Photo) { self.photo = photo }
  }

  /// The id.
  public let id: ID
  /// The photo.
  public var photo: Photo { box.photo }
  /// 0 for a photo that is shown for the first time. Offline, a gallery that has reached the end of all stored photos
  /// begins again with the first: in its second round, 1, and so on.
  package var round: Int { id.round }

  private let box: Box

  /// Makes an item.
  public init(_ photo: Photo, round: Int = 0) {
    id = ID(photo, round: round)
    box = Box(photo)
  }

  /// Items are equal if they show the same photo, with the same metadata, in the same round.
  public static func == (lhs: GalleryItem, rhs: GalleryItem) -> Bool {
    lhs.box === rhs.box ? lhs.round == rhs.round : lhs.id == rhs.id && lhs.photo == rhs.photo
  }
}
