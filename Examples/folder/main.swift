// Makes a WebP thumbnail of each image in a folder and its subfolders, and shows the progress: folder INPUT OUTPUT
import FolderConversion
import Foundation
import Thumbnailer

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
  print("usage: folder INPUT OUTPUT")
  exit(64)
}
var options = FolderConverter.Options(inputs: [.path(arguments[1])], output: arguments[2])
options.sizes = [TargetSize(PixelSize(256, 256))]
options.format = .webp

let conversion = try await FolderConverter(options).start()
var done = 0
// Results arrive as they are finished. Another run makes only what is new or has changed.
for await result in conversion {
  if let failure = result.failure, result.status == .failed { print("\(result.source): \(failure.message)") }
  done += 1
  print("\(done) of \(conversion.count)", terminator: done < conversion.count ? "\r" : "\n")
}
let summary = await conversion.finish()
exit(summary.failed == 0 && summary.failure == nil ? 0 : 1)
