/// The way of a picture that is decoded in a helper process.
extension PipelineStages {
  /// Where a picture is decoded.
  enum Reading {
    case inProcess(ImageProbe)
    case inHelper(ImageFormat, HelperPool)
  }

  /// Whether a source's picture may be of a format that only a helper reads.
  func admitsForeign(_ source: ImageSource) -> Bool {
    configuration.isolation.admitsUnsafe(isUserFile: source.isUserFile)
  }

  /// Decides where a picture is decoded from what our own reader found in its header.
  func reading(_ header: Result<ImageProbe, CodecError>, source: ImageSource) throws(ThumbnailError) -> Reading {
    switch header {
    case .success(let probe):
      if let helpers, configuration.isolation.formats == .all { return .inHelper(probe.format, helpers) }
      return .inProcess(probe)
    case .failure(let error):
      if let helpers, admitsForeign(source), let format = ForeignFormat.candidate(after: error) {
        return .inHelper(format, helpers)
      }
      throw ThumbnailError(error, of: configuration)
    }
  }

  /// Has all the variants made in a helper. Only the thumbnails' own bytes count against the budget: the helper's memory
  /// has its own limit.
  func render(
    _ variants: [Variant], of source: ImageSource, from body: SourceBody, format: ImageFormat, in helpers: HelperPool,
    priority: PriorityControl
  ) async throws(ThumbnailError) -> Rendering {
    let bytes = body.bytes
    let limits = limits
    let acceptsDamage = configuration.damaged == .accept
    let mostBytes = min(AnswerRules.mostBytes(for: variants), decodes.capacity)
    let sizes = variants.map { "\($0.size)" }.joined(separator: ", ")
    let plan = "\(format.rawValue) in a helper → \(sizes)"
    let (results, duration) = try await decode(
      plan, reserving: mostBytes, source: source, priority: priority
    ) { cancellation in
      helpers.render(
        bytes, format: format, variants: variants, limits: limits, mostBytes: mostBytes,
        acceptsDamage: acceptsDamage, cancellation: cancellation)
    }
    events.send(source, .rendered(variants, duration: duration))
    let made = results.map { ($0.variant, $0.result.mapError { ThumbnailError($0, of: configuration) }) }
    return .done(made, plan: plan)
  }
}
