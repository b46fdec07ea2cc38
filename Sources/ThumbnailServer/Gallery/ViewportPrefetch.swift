import Foundation
import HTTPTransport
import ThumbnailCore
import Thumbnailer

/// The message of a page about its viewport.
struct ViewportMessage: Sendable, Decodable {
  /// The distance from the top of the content to that of the view, and the view's height, in CSS pixels.
  var offset: Double
  var height: Double
  /// The columns of the grid; 0 for justified rows.
  var columns: Int
  /// A cell, in CSS pixels.
  var cellWidth: Double
  var cellHeight: Double
  var spacing: Double
  /// Device pixels a CSS pixel.
  var scale: Double
  /// The box of the thumbnails, as in their addresses: `400x400`.
  var box: String
  var fit: String
  /// The first and the last image in view.
  var first: Int
  var last: Int
}

/// Prefetches around a page's viewport. The prefetcher knows only a part of a long list, which moves with the viewport.
actor ViewportPrefetch {
  /// The number of images that the prefetcher knows, and the least distance of the viewport from their ends.
  private static let length = 2000
  private static let margin = 500
  private static let mostColumns = 64

  private let list: any ImageList
  private let pipeline: ThumbnailPipeline
  private let headers: HostHeaders
  private var prefetcher: Prefetcher?
  private var layout: GridLayout?
  private var version = -1
  private var known = 0..<0

  init(list: any ImageList, pipeline: ThumbnailPipeline, headers: HostHeaders) {
    (self.list, self.pipeline, self.headers) = (list, pipeline, headers)
  }

  /// Reports the viewport of the page.
  ///
  /// - Parameters:
  ///   - version: The list's version that the positions are of.
  ///   - count: The images that there are.
  /// - Returns: Whether the message makes sense.
  func viewportChanged(_ message: ViewportMessage, version: Int, count: Int) async -> Bool {
    guard message.first >= 0, message.last >= message.first, message.last < count,
      let variant = GalleryForm(box: message.box, fit: message.fit)?.variant, let grid = Self.grid(of: message)
    else { return false }
    if prefetcher?.variant != variant {
      prefetcher?.stop()
      prefetcher = Prefetcher(pipeline: pipeline, layout: grid, variant: variant)
      (layout, known) = (grid, 0..<0)
    } else if layout != grid {
      prefetcher?.setLayout(grid)
      layout = grid
    }
    await show(message.first..<(message.last + 1), version: version, count: count)
    // The offset is that of the known images' grid: sections and justified rows of the page do not matter here.
    let row = Double((message.first - known.lowerBound) / grid.columns)
    let height = message.height.isFinite ? message.height : 0
    prefetcher?.setViewport(Viewport(offset: row * grid.rowPitch, height: height))
    return true
  }

  func stop() {
    prefetcher?.stop()
    prefetcher = nil
  }

  private static func grid(of message: ViewportMessage) -> GridLayout? {
    let rowPitch = message.cellHeight + message.spacing
    let (width, height) = (message.cellWidth * message.scale, message.cellHeight * message.scale)
    guard message.scale > 0, width > 0, height > 0, max(width, height) <= Double(PixelSize.longestThumbnailSide),
      message.spacing >= 0, message.height > 0, rowPitch.isFinite
    else { return nil }
    // As many as justified rows have in the mean.
    let rows = max(1, message.height / rowPitch)
    let columns =
      message.columns > 0
      ? message.columns : Int((Double(message.last - message.first + 1) / rows).rounded(.up))
    return GridLayout(
      columns: min(max(1, columns), mostColumns),
      cell: PixelSize(Int(width.rounded(.up)), Int(height.rounded(.up))),
      scale: message.scale, spacing: message.spacing)
  }

  /// Gives the prefetcher the images around those in view.
  private func show(_ visible: Range<Int>, version: Int, count: Int) async {
    let isInside =
      version == self.version && (visible.lowerBound - Self.margin >= known.lowerBound || known.lowerBound == 0)
      && (visible.upperBound + Self.margin <= known.upperBound || known.upperBound == count)
    guard !isInside else { return }
    let columns = layout?.columns ?? 1
    // A window that begins with a row of the grid.
    let begin = max(0, visible.lowerBound - Self.length / 2) / columns * columns
    let wanted = begin..<min(count, begin + Self.length)
    let before = (self.version, known, prefetcher?.variant)
    if version == self.version, wanted.lowerBound == known.lowerBound, wanted.upperBound > known.upperBound {
      guard let more = await sources(known.upperBound..<wanted.upperBound, version), isStill(before) else { return }
      prefetcher?.append(contentsOf: more)
    } else {
      guard let all = await sources(wanted, version), isStill(before) else { return }
      prefetcher?.setItems(all)
    }
    (self.version, known) = (version, wanted)
  }

  /// Whether no other message has moved the window in the meantime.
  private func isStill(_ state: (version: Int, known: Range<Int>, variant: Variant?)) -> Bool {
    state.version == version && state.known == known && state.variant == prefetcher?.variant
  }

  private func sources(_ range: Range<Int>, _ version: Int) async -> [ImageSource]? {
    guard let variant = prefetcher?.variant else { return nil }
    let photos = try? await list.photos(in: range, version: version)
    return photos?.map { $0.photo.source(for: variant.size, fit: variant.fit).adding(headers) }
  }
}
