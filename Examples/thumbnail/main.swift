// Makes a thumbnail of an image on the web or of a file: thumbnail IMAGE OUTPUT
import Foundation
import Thumbnailer

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
  print("usage: thumbnail IMAGE OUTPUT, such as thumbnail https://example.com/lake.jpg lake-400.jpg")
  exit(64)
}
let isWeb = arguments[1].hasPrefix("http:") || arguments[1].hasPrefix("https:")
guard let url = isWeb ? URL(string: arguments[1]) : URL(fileURLWithPath: arguments[1]) else {
  print("\(arguments[1]) is no URL")
  exit(64)
}

do {
  let thumbnail = try await ThumbnailPipeline.shared.thumbnail(for: url, size: 400)
  try thumbnail.data.write(to: URL(fileURLWithPath: arguments[2]))
  print("\(arguments[2]): \(thumbnail.format), \(thumbnail.size), \(thumbnail.data.count) bytes")
} catch {
  print("\(arguments[1]): \(error)")
  exit(1)
}

// What was made is in the cache for the next run.
await ThumbnailPipeline.shared.flush()
