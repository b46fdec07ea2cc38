import Glibc
package import ImageCodec
package import ThumbnailCore

/// Carries out requests, in a helper or in the pipeline's process: with our own readers for the formats that they support,
/// with libvips' loaders for the rest.
package struct DecodeWorker {
  private let kind: HelperKind
  /// The most address space, in bytes, beyond the program itself.
  private let memoryLimit: Int
  private let cancellation: CancellationFlag
  /// Where a helper puts samples.
  private let samples: SharedSamples?

  /// In a helper.
  init(_ kind: HelperKind, memoryLimit: Int, _ samples: SharedSamples) {
    (self.kind, self.memoryLimit, cancellation) = (kind, memoryLimit, CancellationFlag())
    self.samples = samples
  }

  /// In the pipeline's process.
  package init(_ cancellation: CancellationFlag) {
    (kind, memoryLimit, self.cancellation, samples) = (.full, .max, cancellation, nil)
  }

  /// The results in the pipeline's process. An error that concerns all variants is each one's failure, without a size.
  package func decode(_ image: ByteSource, _ request: HelperRequest) -> DecodedImage {
    guard request.format.isReadInProcess else { return request.failed(.unsupportedFormat(request.format)) }
    do throws(CodecError) { return try made(of: image, request) } catch { return request.failed(error) }
  }

  /// The response of a helper, and the thumbnails' samples and profiles.
  func carryOut(_ request: HelperRequest, _ image: ByteSource) -> (HelperResponse, [HelperAttachment]) {
    do throws(CodecError) {
      guard kind == .full || request.format.isReadInProcess else { throw .needsLibvips }
      let made = try made(of: image, request)
      if made.results.contains(where: \.needsLibvips) { throw .needsLibvips }
      return response(made, to: request.variants)
    } catch {
      if error == .needsLibvips { return (HelperResponse(size: nil, outcomes: [], needsLibvips: true), []) }
      let failure = isGzip(image) ? .notAPicture(looksLike: "gzip data without a whole SVG in it") : explained(error)
      return (HelperResponse(size: nil, outcomes: request.variants.map { _ in .failure(failure) }), [])
    }
  }

  private func made(of image: ByteSource, _ request: HelperRequest) throws(CodecError) -> DecodedImage {
    guard request.format.isReadInProcess else {
      guard case .file(let file, _) = image else { throw .unreadableBody(detail: "it is in no file") }
      let downsampler = HelperOnlyDownsampler(
        body: image, file: file, format: request.format, limits: request.limits, memoryLimit: memoryLimit)
      return try salvaged(request, downsampler)
    }
    let index = request.index.map { SharedIndex($0) }
    let body = try inMemory(image)
    let probe = try probe(body, limits: request.limits)
    var decode = PlannedDecode(
      body, probe, request.terms.limited(to: memoryLimit), usesTwoThreads: request.hasSpareProcessor, index: index,
      cancellation: cancellation)
    var made = decode.run(request.variants, limits: request.limits)
    made.index = index?.value == request.index ? nil : index?.value
    return made
  }

  /// Files up to this length are read at once, in bytes.
  private static let shortFile = 1 << 20

  private func inMemory(_ image: ByteSource) throws(CodecError) -> ByteSource {
    guard case .file = image, image.count <= Self.shortFile else { return image }
    let bytes = try image.bytes(at: 0, length: image.count)
    return bytes.count == image.count ? .memory(bytes) : image
  }

  /// Decodes strictly first, and then, if requested, salvages the readable part of a damaged image.
  private func salvaged(
    _ request: HelperRequest, _ downsampler: HelperOnlyDownsampler
  ) throws(CodecError) -> DecodedImage {
    let first = try downsampler.pixels(for: request.variants)
    var made = DecodedImage(size: first.size, results: first.results)
    guard request.terms.acceptsDamage else { return made }
    var needsLibvips = false
    made.results = Downsampler.salvaging(first.results) { damaged throws(CodecError) in
      let second = try downsampler.pixels(for: damaged, isTolerant: true).results
      needsLibvips = second.contains { $0.needsLibvips }
      return second
    }
    if needsLibvips { throw .needsLibvips }
    return made
  }

  private func response(_ made: DecodedImage, to variants: [Variant]) -> (HelperResponse, [HelperAttachment]) {
    var response = HelperResponse(
      size: made.size, outcomes: [], index: made.index, plan: made.plan, planBytes: made.planBytes,
      usesPreview: made.usesPreview, need: made.need)
    if made.need != nil { return (response, []) }
    var (attachments, used): ([HelperAttachment], Int) = ([], 0)
    for variant in variants {
      switch made.results.first(where: { $0.variant == variant })?.result {
      case .success(let pixels)?:
        var described = HelperResponse.Pixels(pixels)
        described.isShared = samples?.write(pixels.raster, behind: &used) ?? false
        if !described.isShared { attachments.append(.samples(pixels.raster)) }
        if let profile = pixels.kept?.profile { attachments.append(.bytes(profile)) }
        response.outcomes.append(.pixels(described))
      case .failure(let error)?: response.outcomes.append(.failure(explained(error)))
      case nil: response.outcomes.append(.failure(.damaged(.shrink, detail: "no thumbnail was made")))
      }
    }
    return (response, attachments)
  }

  private func isGzip(_ image: ByteSource) -> Bool {
    (try? image.read(at: 0, length: 2)) == [0x1F, 0x8B]
  }

  /// Distinguishes lack of memory from a fault of the image. libvips reports this only in its error text, which is
  /// reliable here because only one image is decoded at a time.
  private func explained(_ error: CodecError) -> CodecError {
    switch error {
    case .outOfMemory: return .helperFailed(.outOfMemory(limit: memoryLimit))
    case .damaged(_, let detail), .truncated(let detail), .unreadableBody(let detail):
      let words = detail.lowercased()
      // ImageMagick then tries temporary files, which the helper may not write.
      if words.contains("pixel cache") || words.contains("resources exhausted") {
        return .helperFailed(.imageMagickOutOfMemory)
      }
      let isMemory = ["out of memory", "memory allocation", "cannot allocate", "bad_alloc"]
        .contains { words.contains($0) }
      return isMemory ? .helperFailed(.outOfMemory(limit: memoryLimit)) : error
    default: return error
    }
  }
}

extension HelperRequest {
  /// The pixels of its first thumbnail, decoded in a helper; without helpers in this process. Blocks; call it on a
  /// thread of a pool that calls `Codec.threadWillEnd()`.
  package func raster(of image: ByteSource, in helpers: HelperPool?) throws(CodecError) -> Raster {
    let cancellation = CancellationFlag()
    let made =
      helpers?.decode(image, self, cancellation: cancellation)
      ?? DecodeWorker(cancellation).decode(image, self)
    if case .refusal(let error)? = made.need { throw error }
    guard let first = made.results.first else { throw .damaged(.shrink, detail: "no thumbnail was made") }
    return try first.result.get().raster
  }

  /// The same failure for all variants.
  func failed(_ error: CodecError) -> DecodedImage {
    DecodedImage(results: variants.map { Rendered(variant: $0, result: .failure(error)) })
  }
}
