import Glibc
package import ImageCodec
package import ThumbnailCore

/// The result for an image: its size, one result for each variant, and the row index of a JPEG if it has changed.
package typealias DecodedImage = (size: PixelSize?, results: [Rendered<ThumbnailRaster>], index: RowIndex?)

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
      if made.results.contains(where: \.isForLibvips) { throw .needsLibvips }
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
      var size: PixelSize?
      let results = try salvaging(request) { variants, isTolerant throws(CodecError) in
        let made = try downsampler.pixels(for: variants, isTolerant: isTolerant)
        if size == nil { size = made.size }
        return made.results
      }
      return (size, results, nil)
    }
    let index = request.index.map { SharedIndex($0) }
    var body = try inMemory(image)
    var probe = try probe(body, limits: request.limits)
    let size = probe.size
    if probe.isRAW {
      let preview = try RAWPreview(request.variants, of: probe, in: body, limits: request.limits)
      (body, probe) = (preview.bytes, preview.probe)
    }
    let results: [Rendered<ThumbnailRaster>]
    if let options = request.options {
      results = try pixels(of: body, probe, request, request.variants, options, index)
    } else {
      results = try salvaging(request) { [body, probe] variants, isTolerant throws(CodecError) in
        try unplanned(body, probe, request, variants, isTolerant: isTolerant)
      }
    }
    return (size, results, index?.value == request.index ? nil : index?.value)
  }

  /// Carries out the pipeline's plan.
  private func pixels(
    of body: ByteSource, _ probe: ImageProbe, _ request: HelperRequest, _ variants: [Variant], _ options: PlanOptions,
    _ index: SharedIndex? = nil
  ) throws(CodecError) -> [Rendered<ThumbnailRaster>] {
    let memoryBudget = min(options.memoryBudget, memoryLimit)
    if options.readsPreview {
      guard
        let plan = PreviewPlan(variants, probe: probe, memoryBudget: memoryBudget, isBodyWhole: options.isBodyWhole),
        let results = Downsampler.pixels(of: body, preview: plan, cancellation: cancellation)
      else { throw .handedOver(reason: "the preview does not match") }
      return results
    }
    let plan = try DecodePlan.make(
      probe: probe, bodyLength: body.count, variants: variants, memoryBudget: memoryBudget,
      isTolerant: options.isTolerant, isBodyWhole: options.isBodyWhole,
      mayReadCoefficients: options.mayReadCoefficients)
    return Downsampler.pixels(
      of: body, plan: plan, onTwoThreads: request.hasSpareProcessor, index: index, cancellation: cancellation)
  }

  /// Makes a plan and carries it out. What the coefficient decoder hands over is read by libjpeg.
  private func unplanned(
    _ body: ByteSource, _ probe: ImageProbe, _ request: HelperRequest, _ variants: [Variant], isTolerant: Bool
  ) throws(CodecError) -> [Rendered<ThumbnailRaster>] {
    var options = PlanOptions(memoryBudget: memoryLimit)
    (options.isTolerant, options.mayReadCoefficients) = (isTolerant, !isTolerant)
    let results = try pixels(of: body, probe, request, variants, options)
    let isHandedOver = results.contains { if case .failure(.handedOver) = $0.result { true } else { false } }
    guard options.mayReadCoefficients, isHandedOver else { return results }
    options.mayReadCoefficients = false
    return try pixels(of: body, probe, request, variants, options)
  }

  /// Files up to this length are read at once, in bytes.
  private static let shortFile = 1 << 20

  private func inMemory(_ image: ByteSource) throws(CodecError) -> ByteSource {
    guard case .file = image, image.count <= Self.shortFile else { return image }
    let bytes = try image.bytes(at: 0, length: image.count)
    return bytes.count == image.count ? .memory(bytes) : image
  }

  /// Renders strictly first, and then, if requested, salvages the readable part of a damaged image.
  private func salvaging(
    _ request: HelperRequest,
    _ render: (_ variants: [Variant], _ isTolerant: Bool) throws(CodecError) -> [Rendered<ThumbnailRaster>]
  ) throws(CodecError) -> [Rendered<ThumbnailRaster>] {
    let first = try render(request.variants, false)
    guard request.acceptsDamage else { return first }
    var needsLibvips = false
    let results = Downsampler.salvaging(first) { damaged throws(CodecError) in
      let second = try render(damaged, true)
      needsLibvips = second.contains { $0.isForLibvips }
      return second
    }
    if needsLibvips { throw .needsLibvips }
    return results
  }

  private func response(_ made: DecodedImage, to variants: [Variant]) -> (HelperResponse, [HelperAttachment]) {
    var response = HelperResponse(size: made.size, outcomes: [], index: made.index)
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
    case .exceedsMemoryBudget, .outOfMemory: return .helperFailed(.outOfMemory(limit: memoryLimit))
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

extension Rendered {
  fileprivate var isForLibvips: Bool { if case .failure(.needsLibvips) = result { true } else { false } }
}

extension HelperRequest {
  /// The pixels of its first thumbnail, decoded in a helper; without helpers in this process. Blocks; call it on a
  /// thread of a pool that calls `Codec.threadWillEnd()`.
  package func raster(of image: ByteSource, in helpers: HelperPool?) throws(CodecError) -> Raster {
    let cancellation = CancellationFlag()
    let made =
      helpers?.decode(image, self, cancellation: cancellation)
      ?? DecodeWorker(cancellation).decode(image, self)
    guard let first = made.results.first else { throw .damaged(.shrink, detail: "no thumbnail was made") }
    return try first.result.get().raster
  }

  /// The same failure for all variants.
  func failed(_ error: CodecError) -> DecodedImage {
    (nil, variants.map { Rendered(variant: $0, result: .failure(error)) }, nil)
  }
}
