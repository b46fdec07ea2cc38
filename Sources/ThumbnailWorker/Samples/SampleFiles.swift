import Foundation
import ThumbnailCore

/// The files of one line: its thumbnails and their descriptions. Their bytes depend on nothing but the image.
struct SampleFiles: Sendable {
  /// A file and its name within the output.
  struct File: Sendable {
    let name: String
    let data: Data
  }

  /// The names of the members of `{key}.json` that are the worker's own.
  private static let ownMembers: Set<String> = [
    "key", "url", "caption", "status", "error_message", "width", "height", "original_width", "original_height",
    "format", "original_format", "original_bytes", "sha256", "thumbHash",
  ]

  /// The name of a thumbnail: with its box if the line has several.
  static func name(of thumbnail: Thumbnail, variant: Variant, key: SampleKey, sizeCount: Int) -> String {
    let size = sizeCount > 1 ? ".\(TargetSize(variant.size))" : ""
    return "\(key.text)\(size).\(thumbnail.format.fileExtension)"
  }

  /// The files in the order of WebDataset's own writers: by name.
  ///
  /// - Parameter hasSidecars: Whether `{key}.json` and `{key}.txt` are among them.
  static func files(
    of item: WorkItem, _ made: [LineResponse.Made], address: LineResponse.Address?, hasSidecars: Bool,
    _ wording: WorkerWording
  ) -> [File] {
    var files = made.map { File(name: $0.path ?? "", data: $0.thumbnail.data) }
    if hasSidecars {
      files.append(File(name: "\(item.key.text).json", data: description(of: item, made, address, wording)))
      if let caption = item.caption { files.append(File(name: "\(item.key.text).txt", data: Data(caption.utf8))) }
    }
    return files.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// `{key}.json`, with the names of img2dataset.
  private static func description(
    of item: WorkItem, _ made: [LineResponse.Made], _ address: LineResponse.Address?, _ wording: WorkerWording
  ) -> Data {
    var json = JSONObject()
    for (name, value) in item.members where !ownMembers.contains(name) { json.add(name, JSONText(value)) }
    json.add("key", item.key.text)
    if case .url(let url) = address { json.add("url", wording.address(url)) }
    json.add("caption", item.caption)
    json.add("status", "success")
    json.add("error_message", JSONText("null".utf8))
    if let first = made.first {
      let thumbnail = first.thumbnail
      json.add("width", thumbnail.size.width)
      json.add("height", thumbnail.size.height)
      json.add("original_width", thumbnail.source.size.width)
      json.add("original_height", thumbnail.source.size.height)
      json.add("format", thumbnail.format.rawValue)
      json.add("original_format", thumbnail.source.format.rawValue)
      json.add("original_bytes", thumbnail.source.byteCount)
      json.add("sha256", first.sha256)
      json.add("thumbHash", thumbnail.placeholder?.thumbHash.base64EncodedString())
    }
    return Data(json.bytes)
  }
}
