// Makes a WebP thumbnail of each image in a folder, and shows the progress: folder INPUT OUTPUT
import Foundation
import Thumbnailer

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
  print("usage: folder INPUT OUTPUT")
  exit(64)
}
let output = URL(fileURLWithPath: arguments[2], isDirectory: true)
try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
let urls = try FileManager.default.contentsOfDirectory(
  at: URL(fileURLWithPath: arguments[1], isDirectory: true), includingPropertiesForKeys: nil
).filter { !$0.hasDirectoryPath }

let requests = urls.map { ThumbnailRequest($0, size: 256, format: .webp, priority: .prefetch) }
var (done, failed) = (0, 0)
// At most some dozens of these requests are in flight, however many there are.
for await (request, result) in ThumbnailPipeline.shared.thumbnails(for: requests) {
  let name = request.source.url.lastPathComponent
  switch result {
  case .success(let response):
    try response.thumbnail.data.write(to: output.appending(path: name + ".webp"))
  case .failure(let error):
    failed += 1
    print("\(name): \(error.message)")
  }
  done += 1
  print("\(done) of \(requests.count)", terminator: done < requests.count ? "\r" : "\n")
}

await ThumbnailPipeline.shared.flush()
exit(failed == 0 ? 0 : 1)
