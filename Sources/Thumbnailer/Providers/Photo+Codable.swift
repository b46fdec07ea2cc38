import Foundation

extension PhotoLocation: Codable {
  private enum CodingKeys: CodingKey { case url, identity, path, raw, size }

  /// Header fields are neither written nor read: they may be credentials.
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    if let path = try values.decodeIfPresent(String.self, forKey: .path) {
      self = .file(path: path)
    } else if let raw = try values.decodeIfPresent(URL.self, forKey: .raw) {
      self = .imgix(
        raw: raw, size: try values.decode(PixelSize.self, forKey: .size),
        identity: try values.decode(String.self, forKey: .identity))
    } else {
      self = .single(
        ImageSource(
          try values.decode(URL.self, forKey: .url),
          identity: try values.decodeIfPresent(String.self, forKey: .identity)))
    }
  }

  func encode(to encoder: any Swift.Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .file(let path):
      try values.encode(path, forKey: .path)
    case .imgix(let raw, let size, let identity):
      try values.encode(raw, forKey: .raw)
      try values.encode(size, forKey: .size)
      try values.encode(identity, forKey: .identity)
    case .single(let source):
      try values.encode(source.url, forKey: .url)
      if source.identity != source.url.absoluteString { try values.encode(source.identity, forKey: .identity) }
    }
  }
}
