// Scrolls through the images of a folder in the terminal, and prefetches the rows to come: grid FOLDER
import Foundation
import Thumbnailer

guard CommandLine.arguments.count == 2 else {
  print("usage: grid FOLDER")
  exit(64)
}
let folder = URL(fileURLWithPath: CommandLine.arguments[1], isDirectory: true)
let urls = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
  .filter { !$0.hasDirectoryPath }.sorted { $0.path < $1.path }

// Four rows of six cells are in view.
let layout = GridLayout(columns: 6, cell: PixelSize(64, 64))
let rowsInView = 4
let prefetcher = Prefetcher(layout: layout)
prefetcher.setItems(urls: urls)

// What the prefetcher does, for a status line or a log.
let counting = Task { [events = prefetcher.events] in
  var prefetched = 0
  for await event in events {
    switch event {
    case .started(_, _, priority: .prefetch): prefetched += 1
    case .failed(_, let source, let error): print("\(source.url.lastPathComponent): \(error.message)")
    default: break
    }
  }
  return prefetched
}

/// A cell: the mean colour of its thumbnail.
func cell(at index: Int) async -> String {
  guard let colour = try? await prefetcher.thumbnail(at: index).placeholder?.colour else { return "  ??  " }
  return "\u{1B}[48;2;\(colour.red);\(colour.green);\(colour.blue)m      \u{1B}[0m"
}

let rows = (urls.count + layout.columns - 1) / layout.columns
var readyCells = 0
for row in 0..<rows {
  // Report the viewport at every scroll event. The row that comes into view is the lowest one.
  let top = Double(max(0, row - rowsInView + 1)) * layout.rowPitch
  prefetcher.setViewport(Viewport(offset: top, height: Double(rowsInView) * layout.rowPitch))
  var line = ""
  for index in row * layout.columns..<min(urls.count, (row + 1) * layout.columns) {
    // Nil unless the thumbnail is in memory: then a cell shows its placeholder meanwhile.
    if prefetcher.cachedThumbnail(at: index) != nil { readyCells += 1 }
    line += await cell(at: index)
  }
  print(line)
  try await Task.sleep(for: .milliseconds(200))
}

await prefetcher.waitUntilSettled()
prefetcher.stop()
await ThumbnailPipeline.shared.flush()
print("\(readyCells) of \(urls.count) thumbnails were ready when their cells came into view")
