@testable import CodecTestSupport
@testable import ImageCodec

/// All rows of a source, or of libvips, in memory.
struct SourceRows: Equatable {
  let layout: RowLayout
  /// The bytes of each plane, without padding.
  var planes: [[UInt8]]
  /// The most rows that were passed at once.
  var longestBand = 0

  /// Reads a source to its end.
  init(_ source: some RowSource) throws(CodecError) {
    layout = source.layout
    let sampleBytes = layout.sample == .uint16 ? 2 : 1
    var (planes, longest) = (layout.planes.map { _ in [UInt8]() }, 0)
    while try source.read({ band in
      let plane = source.layout.planes[band.plane]
      longest = max(longest, band.count)
      for row in 0..<band.count {
        planes[band.plane] += UnsafeRawBufferPointer(
          start: band.start + row * band.stride, count: plane.size.width * plane.channels * sampleBytes)
      }
    }) {}
    (self.planes, longestBand) = (planes, longest)
  }

  /// What libvips' loader makes of a file, refusing what is damaged.
  init(libvips bytes: [UInt8], _ format: ImageFormat) throws {
    try Codec.start()
    vips_error_clear()
    let image = try BodyReader(.memory(bytes), cancellation: CancellationFlag()).load(format, VIPS_FAIL_ON_ERROR)
    try self.init(image)
  }

  /// - Throws: For samples that are no unsigned integers of 8 or 16 bits.
  init(_ image: LibvipsImage) throws {
    guard [VIPS_FORMAT_UCHAR, VIPS_FORMAT_USHORT].contains(image.format) else {
      throw CodecError.unsupported("samples of libvips' format \(image.format)")
    }
    var length = 0
    guard let memory = vips_image_write_to_memory(image.pointer, &length) else {
      throw CodecError.damaged(.decode, detail: Codec.errorText())
    }
    defer { g_free(memory) }
    layout = RowLayout(
      size: image.size, channels: image.bands, sample: image.format == VIPS_FORMAT_USHORT ? .uint16 : .uint8)
    planes = [Array(UnsafeRawBufferPointer(start: memory, count: length))]
  }

  /// The only plane, with an opaque alpha channel if it has none. Of 8 bits and three or four channels.
  var withAlpha: [UInt8] {
    guard layout.planes[0].channels == 3 else { return planes[0] }
    return withOpaqueAlpha(planes[0])
  }

  /// How many files were read, refused as by libvips, and left to it.
  struct Judged {
    var counts = (read: 0, refused: 0, handedOver: 0)

    /// Reads a file, and expects that libvips' reading is as a closure says, or that libvips refuses it, too.
    mutating func judge(
      _ file: [UInt8], _ theirs: SourceRows?, _ name: String, _ read: ([UInt8]) throws(CodecError) -> SourceRows,
      isSame: (SourceRows) -> Bool
    ) {
      do throws(CodecError) {
        let ours = try read(file)
        counts.read += 1
        // Not the values: a difference would be printed byte by byte.
        #expect(isSame(ours) == true, "\(name)")
      } catch .handedOver {
        counts.handedOver += 1
      } catch .limitExceeded {
      } catch {
        counts.refused += 1
        #expect(theirs == nil, "\(name): \(error)")
      }
    }
  }

  static func == (a: Self, b: Self) -> Bool {
    (a.layout.colour, a.layout.sample) == (b.layout.colour, b.layout.sample) && a.layout.planes == b.layout.planes
      && a.planes == b.planes
  }
}

extension SharedCorpus {
  /// The names and bytes of all files of a format, by their first bytes.
  static func files(_ format: ImageFormat) throws -> [(name: String, bytes: [UInt8])] {
    try manifest().compactMap { columns in
      let name = columns[0]
      let bytes = [UInt8](try Data(contentsOf: root.appending(path: name)))
      guard Sniffer.sniff(HeaderBytes(Array(bytes.prefix(4096))), isAll: true) == .format(format) else { return nil }
      return (name, bytes)
    }
  }
}
