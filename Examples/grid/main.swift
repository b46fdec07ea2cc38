// Scrolls through the images of a folder in the terminal, and prefetches the rows to come: grid FOLDER
import Foundation
import PhotoSources
import Thumbnailer

guard CommandLine.arguments.count == 2 else {
  print("usage: grid FOLDER")
  exit(64)
}
// Or `ProviderSpecification(parsing: "commons").provider(for: .shared)`, and a search for lakes.
let photos = try await FolderProvider(path: CommandLine.arguments[1]).search(PhotoQuery(pageSize: 200), at: nil).photos

// Four rows of six cells are in view.
let cell = PixelSize(64, 64)
let (columns, rowsInView) = (6, 4)
let prefetcher = Prefetcher(layout: GridLayout(columns: columns, cell: cell))
prefetcher.setItems(photos.map { $0.source(for: cell, fit: .contain) })

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
func shownCell(at index: Int) async -> String {
  guard let colour = try? await prefetcher.thumbnail(at: index).placeholder?.colour else { return "  ??  " }
  return "\u{1B}[48;2;\(colour.red);\(colour.green);\(colour.blue)m      \u{1B}[0m"
}

var readyCells = 0
for row in 0..<(photos.count + columns - 1) / columns {
  // Report the viewport at every scroll event. The row that comes into view is the lowest one.
  let top = max(0, row - rowsInView + 1) * cell.height
  prefetcher.setViewport(Viewport(offset: Double(top), height: Double(rowsInView * cell.height)))
  var line = ""
  for index in row * columns..<min(photos.count, (row + 1) * columns) {
    // Nil unless the thumbnail is in memory: then a cell shows its placeholder meanwhile.
    if prefetcher.cachedThumbnail(at: index) != nil { readyCells += 1 }
    line += await shownCell(at: index)
  }
  print(line)
  try await Task.sleep(for: .milliseconds(200))
}

prefetcher.stop()
await ThumbnailPipeline.shared.flush()
print("\(readyCells) of \(photos.count) thumbnails were ready when their cells came into view")
