/// A photo at its place in a gallery.
///
/// Small and cheap to copy: the photo itself is shared by all copies.
public struct GalleryItem: Identifiable, Equatable, Sendable {
  /// Tells an item from all others of a gallery.
  public struct ID: Hashable, Sendable, CustomStringConvertible {
    /// The photo, as bytes: two ids that only look alike are two photos.
    let key: [UInt8]
    /// How often the photo has been shown before: see `GalleryItem.round`.
    public let round: Int
    /// Computed once: lists of a hundred thousand are compared by it.
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

    /// Feeds the prepared hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// A text that is another for every item, for the ids of other systems.
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

  /// What the item is known by.
  public let id: ID
  /// The photo.
  public var photo: Photo { box.photo }
  /// 0 for a photo that is shown for the first time. Without a network, a gallery that has come to the end of all stored
  /// photos begins again with the first: in its second round, 1, and so on.
  public var round: Int { id.round }

  private let box: Box

  /// Puts a photo into a gallery.
  public init(_ photo: Photo, round: Int = 0) {
    id = ID(photo, round: round)
    box = Box(photo)
  }

  /// Items are equal when they show the same photo, described in the same words, in the same round.
  public static func == (lhs: GalleryItem, rhs: GalleryItem) -> Bool {
    lhs.box === rhs.box ? lhs.round == rhs.round : lhs.id == rhs.id && lhs.photo == rhs.photo
  }
}
