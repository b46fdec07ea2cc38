import Foundation
import ThumbnailCore

/// Where a photo is loaded from.
enum PhotoLocation: Equatable, Sendable {
  /// A single URL.
  case single(ImageSource)
  /// A file named by the user, or in a folder named by the user.
  case file(RawPath)
  /// A provider's server, which has several sizes. To the cache they are all the same image.
  case served(PhotoForms)
}

extension PhotoLocation: Codable {
  private enum CodingKeys: CodingKey { case url, identity, path, forms }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    if let forms = try values.decodeIfPresent(PhotoForms.self, forKey: .forms) {
      self = .served(forms)
    } else if let path = try values.decodeIfPresent(String.self, forKey: .path) {
      self = .file(RawPath(text: path))
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
    case .served(let forms): try values.encode(forms, forKey: .forms)
    case .file(let path): try values.encode(path.text, forKey: .path)
    case .single(let source):
      try values.encode(source.url, forKey: .url)
      if source.identity != source.url.absoluteString { try values.encode(source.identity, forKey: .identity) }
    }
  }
}
