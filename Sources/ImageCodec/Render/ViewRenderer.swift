import Glibc
import ThumbnailCore

/// Downsamples an image to several sizes in one pass over its rows.
struct ViewRenderer {
  /// One of the images to make; as stored, not upright.
  struct View {
    /// The size of the whole image, or of its region, after reduction; at most that of the source.
    var size: PixelSize
    /// The part of it to compute.
    var part: PixelRectangle
    /// The part of the image that becomes the view; nil: all of it.
    var region: ImageShare?
    /// Whether luma and chroma of the source are kept, instead of converted to RGB.
    var keepsPlanes = false
  }

  private let layout: RowLayout
  private let converter: SampleConverter?
  private var outputs: [Output]

  init(_ layout: RowLayout, views: [View]) throws(CodecError) {
    self.layout = layout
    converter = SampleConverter(layout)
    let isWide = converter != nil
    outputs = try views.map { view throws(CodecError) in try Output(view, of: layout, isWide: isWide) }
  }

  /// Reads the rows of the source up to the last one that a view needs, and returns the rasters, in the order of the views.
  ///
  /// With `fillsDamage`, unreadable rows after the first ones are mid-grey; an error without any rows is thrown.
  consuming func render(
    _ source: any RowSource, fillsDamage: Bool = false, cancellation: CancellationFlag
  ) throws(CodecError) -> [Raster] {
    var rowsRead = Array(repeating: 0, count: layout.planes.count)
    let windows = layout.planes.indices.map { plane in
      PixelRectangle(around: outputs.map { $0.window(ofPlane: plane) })
    }
    source.limit(to: windows)
    let scratch = try Scratch(layout, isUsed: converter != nil, columns: windows.map(\.columns))
    do throws(CodecError) {
      while !isDone,
        try source.read({ band throws(CodecError) in
          rowsRead[band.plane] += band.count
          take(band, scratch)
        })
      {
        if cancellation.isSet { throw .cancelled }
      }
      for (plane, shape) in layout.planes.enumerated() where !isDone && rowsRead[plane] < shape.size.height {
        throw .truncated(detail: "after \(rowsRead[plane]) of \(shape.size.height) rows")
      }
    } catch {
      guard fillsDamage, error.isDamage, rowsRead.allSatisfy({ $0 > 0 }) else { throw error }
      try fill(after: rowsRead, scratch)
    }
    return try outputs.map { output throws(CodecError) in try output.raster(layout) }
  }

  private var isDone: Bool { outputs.allSatisfy(\.isDone) }

  private func take(_ band: RowBand, _ scratch: Scratch) {
    guard let converter, let row = scratch.row, !band.isBlank else {
      for output in outputs { output.take(band) }
      return
    }
    // A converted row is read by all views before the next one replaces it.
    let channels = layout.planes[band.plane].channels
    let columns = scratch.columns[band.plane]
    let first = columns.lowerBound
    for index in 0..<band.count {
      converter.convert(
        band.start + index * band.stride + first * channels * layout.sampleBytes,
        count: columns.count, into: row + first * channels)
      let converted = RowBand(plane: band.plane, start: UnsafeRawPointer(row), stride: 0, count: 1)
      for output in outputs { output.take(converted) }
    }
  }

  /// Feeds opaque mid-grey rows in place of the missing ones.
  private func fill(after rowsRead: [Int], _ scratch: Scratch) throws(CodecError) {
    let bytes = layout.sampleBytes
    for (plane, shape) in layout.planes.enumerated() {
      var row: [UInt8] = Array(repeating: 128, count: shape.size.width * shape.channels * bytes)
      if layout.hasAlpha {
        for index in row.indices where (index / bytes) % shape.channels == shape.channels - 1 { row[index] = 255 }
      }
      row.withUnsafeBytes { samples in
        guard let start = samples.baseAddress else { return }
        for _ in rowsRead[plane]..<max(rowsRead[plane], shape.size.height) {
          take(RowBand(plane: plane, start: start, stride: 0, count: 1), scratch)
        }
      }
    }
  }

  /// The memory of one converted row.
  private final class Scratch {
    let row: UnsafeMutablePointer<Int16>?
    /// The samples of each plane's rows that are converted.
    let columns: [Range<Int>]

    init(_ layout: RowLayout, isUsed: Bool, columns: [Range<Int>]) throws(CodecError) {
      self.columns = columns
      let count = isUsed ? layout.planes[0].size.width * layout.planes[0].channels : 0
      row = isUsed ? malloc(2 * count + 16)?.assumingMemoryBound(to: Int16.self) : nil
      if isUsed && row == nil { throw .outOfMemory }
    }

    deinit { free(row) }
  }
}

/// One view in progress: a resampler for each plane, and the pixels so far.
private final class Output {
  private let view: ViewRenderer.View
  private let layout: RowLayout
  private let resamplers: [RowResampler]
  private let bands: Int
  /// The finished pixels of an interleaved plane.
  private var pixels: PixelMemory?
  /// The new rows of each plane of luma and chroma, at their index modulo `keptRows`: all planes are needed to convert
  /// colours.
  private var planes: [UnsafeMutablePointer<Int16>] = []
  private var keptRows: Int
  /// The rows that each plane has passed, and those that are finished.
  private var passed: [Int]
  private var finished = 0
  /// Rows of all planes that a source passes together and that their windows complete are less than this.
  private static let usualRows = 64

  init(_ view: ViewRenderer.View, of layout: RowLayout, isWide: Bool) throws(CodecError) {
    (self.view, self.layout) = (view, layout)
    resamplers = try layout.planes.map { plane throws(CodecError) in
      try RowResampler(plane, isWide: isWide, region: view.region, target: view.size, part: view.part)
    }
    bands = layout.colour == .ycc ? 3 : layout.planes[0].channels
    pixels = try PixelMemory(view.part.size, bands: bands)
    keptRows = min(Self.usualRows, view.part.size.height)
    passed = layout.planes.map { _ in 0 }
    if layout.colour == .ycc {
      planes = layout.planes.map { _ in .allocate(capacity: keptRows * view.part.size.width) }
    }
  }

  deinit { for plane in planes { plane.deallocate() } }

  var isDone: Bool { resamplers.allSatisfy(\.isDone) }

  func window(ofPlane plane: Int) -> PixelRectangle { resamplers[plane].window }

  func take(_ band: RowBand) {
    guard let start = pixels?.start else { return }
    let width = view.part.size.width
    resamplers[band.plane].take(band, isLasting: band.isLasting) { y, row in
      if layout.colour == .ycc {
        take(row, y, ofPlane: band.plane)
      } else if layout.hasAlpha {
        SampleFinisher.unpremultiply(row, pixels: width, channels: bands, into: start + y * width * bands)
      } else {
        SampleFinisher.narrow(row, count: width * bands, into: start + y * width * bands)
      }
    }
  }

  /// The finished raster; to be called once.
  func raster(_ layout: RowLayout) throws(CodecError) -> Raster {
    guard let pixels else { throw .damaged(.shrink, detail: "a view was taken twice") }
    self.pixels = nil
    let space: Raster.Space =
      switch layout.colour {
      case .cmyk: .cmyk
      case .ycc: view.keepsPlanes ? .ycc : .rgb
      case .interleaved: bands < 3 ? .gray : .rgb
      }
    return Raster(taking: pixels, space: space, profile: layout.profile)
  }

  /// Keeps a new row of luma or chroma, and finishes the rows that all planes have passed.
  private func take(_ row: UnsafePointer<Int16>, _ y: Int, ofPlane plane: Int) {
    let width = view.part.size.width
    if y - finished >= keptRows { keepAllRows() }
    (planes[plane] + y % keptRows * width).update(from: row, count: width)
    passed[plane] = y + 1
    while finished < passed[0], finished < passed[1], finished < passed[2] {
      finishRow(finished)
      finished += 1
    }
  }

  /// Makes room for all rows: a plane is far ahead of another.
  private func keepAllRows() {
    let (width, height) = (view.part.size.width, view.part.size.height)
    for (plane, old) in planes.enumerated() {
      planes[plane] = .allocate(capacity: height * width)
      for y in finished..<max(finished, passed[plane]) {
        (planes[plane] + y * width).update(from: old + y % keptRows * width, count: width)
      }
      old.deallocate()
    }
    keptRows = height
  }

  private func finishRow(_ y: Int) {
    guard let pixels = pixels?.start else { return }
    let width = view.part.size.width
    let offset = y % keptRows * width
    let rows = (
      UnsafePointer(planes[0] + offset), UnsafePointer(planes[1] + offset), UnsafePointer(planes[2] + offset)
    )
    let target = pixels + y * width * 3
    if view.keepsPlanes {
      SampleFinisher.interleave(rows, count: width, into: target)
    } else {
      SampleFinisher.rgb(rows, layout.weights, count: width, into: target)
    }
  }
}
