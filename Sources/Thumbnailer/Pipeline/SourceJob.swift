/// The one way of a request, for all requests of one source: disk cache, download, plan, decode, store, deliver.
///
/// Runs until nobody waits for the source any more. Requests that join while it runs are served by the same body.
struct SourceJob: Sendable {
  let source: ImageSource
  let priority: PriorityControl
  let progress: BodyProgress
  let stages: PipelineStages
  let desk: ThumbnailPipeline.Desk

  /// Goes down the list of stages, again for every set of variants that came in meanwhile.
  func run() async {
    do {
      var body: SourceBody?
      repeat {
        var missing = await answerFromDisk(desk.takeVariants(of: source))
        guard !missing.isEmpty else { continue }
        let current: SourceBody
        if let body {
          current = body
        } else {
          // Ends as soon as everything that is asked by then can be made of what has arrived.
          current = try await fetchBody(demand: desk.demand, insteadOf: nil)
          body = current
        }
        // Whoever came while the body was on its way shares its decode.
        missing += await answerFromDisk(desk.takeVariants(of: source))
        missing = desk.stillWanted(missing, of: source)
        guard !missing.isEmpty else { continue }
        body = try await render(missing, from: current)
      } while !desk.endIfIdle(source)
    } catch {
      let variants = desk.fail(source, with: error)
      if !variants.isEmpty, error != .cancelled {
        stages.statistics.add(variants.count, to: \.failures)
        stages.events.send(source, .failed(variants, error))
      }
    }
  }

  /// Answers what the disk cache holds, exactly or in a larger size, and returns the rest.
  private func answerFromDisk(_ variants: [Variant]) async -> [Variant] {
    var missing: [Variant] = []
    for variant in variants {
      let started = ContinuousClock.now
      let key = CacheKey(source: source.key, variant: variant)
      if let thumbnail = await stages.cache.storedThumbnail(for: key, priority: priority) {
        deliver(variant, thumbnail, origin: .disk, since: started)
      } else if let thumbnail = await stages.shrunkFromCache(key, of: source, priority: priority) {
        await stages.store([(variant, thumbnail)], of: source, from: nil)
        deliver(variant, thumbnail, origin: .shrunk, since: started)
      } else {
        missing.append(variant)
      }
    }
    return missing
  }

  /// Decodes the body once for all the variants, and answers each as it deserves. Returns the body that did it.
  ///
  /// A preview that is not the picture's gives way to the picture. What cannot be made of a body that was stopped early,
  /// because more is asked by now or because the file is not what it seemed, takes the whole body. That is never stopped,
  /// and libvips is the last reader, so there are at most four rounds.
  private func render(_ variants: [Variant], from first: SourceBody) async throws(ThumbnailError) -> SourceBody {
    var body = first
    while true {
      switch try await stages.render(variants, of: source, from: body, priority: priority) {
      case .done(let results, let plan):
        await answer(results, from: body, plan: plan)
        return body
      case .needsWholeBody:
        body = try await fetchBody(demand: nil, insteadOf: body)
      case .needsPicture:
        if !body.isComplete {
          body = try await fetchBody(demand: desk.demand, insteadOf: body)
        }
        body.mayUsePreview = false
      case .needsLibvips:
        if !body.isComplete {
          body = try await fetchBody(demand: nil, insteadOf: body)
        }
        body.mayReadCoefficients = false
      }
    }
  }

  private func fetchBody(
    demand: VariantDemand?, insteadOf body: SourceBody?
  ) async throws(ThumbnailError) -> SourceBody {
    try await stages.fetchBody(of: source, demand: demand, insteadOf: body, priority: priority, progress: progress)
  }

  /// Stores what was made of a body, then tells everybody who waits for it.
  private func answer(
    _ results: [(Variant, Result<Thumbnail, ThumbnailError>)], from body: SourceBody, plan: String?
  ) async {
    let finished = results.compactMap { variant, result in (try? result.get()).map { (variant, $0) } }
    await stages.store(finished, of: source, from: body)
    for (variant, result) in results {
      switch result {
      case .success(let thumbnail):
        stages.statistics.add(1, to: \.rendered)
        let response = ThumbnailResponse(
          thumbnail: thumbnail, origin: .source, downloadedBytes: body.downloadedBytes, bytesLeft: body.bytesLeft,
          plan: plan, duration: .zero)
        _ = desk.answer(variant, of: source, with: .success(response))
      case .failure(let error):
        stages.statistics.add(desk.answer(variant, of: source, with: .failure(error)), to: \.failures)
        stages.events.send(source, .failed([variant], error))
      }
    }
  }

  private func deliver(
    _ variant: Variant, _ thumbnail: Thumbnail, origin: ThumbnailResponse.Origin,
    since started: ContinuousClock.Instant
  ) {
    stages.statistics.add(1, to: \.diskHits)
    stages.events.send(source, .diskHit(variant, shrunk: origin == .shrunk, duration: .now - started))
    let response = ThumbnailResponse(thumbnail: thumbnail, origin: origin, duration: .zero)
    _ = desk.answer(variant, of: source, with: .success(response))
  }
}
