import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// The one way of a request, for all requests of one source: caches, server, download, plan, decode, store, deliver.
///
/// Runs until nobody waits for the source any more. Requests that join while it runs are served by the same body.
struct SourceJob: Sendable {
  let source: ImageSource
  let priority: PriorityControl
  let progress: BodyProgress
  /// Its leave to store what it makes.
  let permit: StorePermit
  let stages: PipelineStages
  let desk: ThumbnailPipeline.Desk
  /// Whether it asks about thumbnails that were handed out before: nobody waits for it.
  let isRevalidation: Bool

  /// Goes down the list of stages, again for every set of variants that came in meanwhile.
  func run() async {
    var standing = Standing()
    do {
      var missing: [Variant] = []
      repeat {
        standing.beginRound()
        missing += await answerFromCache(desk.takeVariants(of: source), &standing)
        dropUnwanted(&missing, &standing)
        guard !missing.isEmpty || !standing.outdated.isEmpty else { continue }
        // What is out of date again since the body came is asked about again.
        if !standing.hasBody || !standing.outdated.isEmpty {
          // Ends as soon as everything that is asked by then can be made of what has arrived. Who waits for it holds no
          // other body.
          standing.verdict = .none
          try await askServer(missing, &standing)
        }
        // Whoever came while the body was on its way shares its decode.
        missing += await answerFromCache(desk.takeVariants(of: source), &standing)
        missing += await settleOutdated(&standing)
        missing = desk.stillWanted(missing, of: source)
        guard !missing.isEmpty, standing.hasBody else { continue }
        try await render(missing, &standing)
        missing = []
      } while !desk.isDone(source)
    } catch {
      await fail(with: error, &standing)
    }
  }

  /// Forgets what nobody waits for any more. Where the others were answered meanwhile, nobody could stop what is done for
  /// it.
  private func dropUnwanted(_ missing: inout [Variant], _ standing: inout Standing) {
    let wanted = Set(desk.stillWanted(missing + standing.outdated.map(\.variant), of: source))
    missing.removeAll { !wanted.contains($0) }
    standing.outdated.removeAll { !wanted.contains($0.variant) }
  }

  /// Answers what the caches hold, exactly or in a larger size, and returns the rest. What is out of date waits for the
  /// server's word.
  func answerFromCache(_ variants: [Variant], _ standing: inout Standing) async -> [Variant] {
    // Of a picture that has changed nothing that is stored will do.
    if standing.replacesStored { return variants }
    var missing: [Variant] = []
    for variant in variants {
      let started = ContinuousClock.now
      let inMemory = desk.keptInMemory([variant], of: source)
      guard
        let found = await stages.storedThumbnail(
          variant, of: source, keepsInMemory: !inMemory.isEmpty, permit: permit, priority: priority)
      else {
        // There is nothing left to ask about.
        if isRevalidation {
          desk.answer(variant, of: source, with: .failure(.notCached))
        } else {
          missing.append(variant)
        }
        continue
      }
      guard found.isFresh || standing.confirmsStored else {
        if await !serveWhileRevalidating(found, keepsInMemory: !inMemory.isEmpty) { standing.outdated.append(found) }
        continue
      }
      var isStored = true
      if found.isShrunk {
        isStored = await stages.store(
          variant, shrunk: found.stored, of: source, inMemory: inMemory, permit: permit)
      }
      if !isRevalidation {
        stages.events.send(source, .diskHit(variant, shrunk: found.isShrunk, duration: .now - started))
      }
      deliver(found, origin: found.isShrunk ? .shrunk : .disk, isStored: isStored)
    }
    return missing
  }

  /// Decodes the body once for all the variants, and answers each as it deserves. Leaves the body that did it.
  ///
  /// A preview that is not the picture's gives way to the picture. What cannot be made of a body that was stopped early,
  /// because more is asked by now or because the file is not what it seemed, takes the whole body. That is never stopped,
  /// and libvips is the last reader, so there are at most four rounds.
  private func render(_ variants: [Variant], _ standing: inout Standing) async throws(ThumbnailError) {
    guard var (body, replaces) = standing.takeBody() else { return }
    while true {
      switch try await stages.render(variants, of: source, from: body, priority: priority) {
      case .done(let results, let plan):
        replaces = await answer(results, from: body, plan: plan, replaces: replaces)
        standing.verdict = .sent(body, replaces: replaces)
        return
      case .needsWholeBody:
        replaces = try await fetchAgain(&body, demand: nil, replaces: replaces, &standing)
      case .needsPicture:
        if !body.isComplete {
          replaces = try await fetchAgain(&body, demand: desk.demand, replaces: replaces, &standing)
        }
        body.mayUsePreview = false
      case .needsLibvips:
        if !body.isComplete { replaces = try await fetchAgain(&body, demand: nil, replaces: replaces, &standing) }
        body.mayReadCoefficients = false
      }
    }
  }

  func fetchBody(
    demand: VariantDemand?, insteadOf spent: SourceBody.Spent?, _ standing: inout Standing
  ) async throws(ThumbnailError) -> SourceBody {
    do throws(FetchFailure) {
      let body = try await stages.fetchBody(
        of: source, demand: demand, insteadOf: spent, priority: priority, progress: progress)
      standing.statedEnd = body.statedEnd
      return body
    } catch {
      standing.statedEnd = error.end
      throw error.error
    }
  }

  /// Stores what was made of a body, then tells everybody who waits for it. Returns whether the body is still to replace
  /// what is stored.
  private func answer(
    _ results: [(Variant, Result<Thumbnail, ThumbnailError>)], from body: SourceBody, plan: String?, replaces: Bool
  ) async -> Bool {
    let finished = results.compactMap { variant, result in (try? result.get()).map { (variant, $0) } }
    var isStored = false
    if !finished.isEmpty {
      let inMemory = desk.keptInMemory(finished.map(\.0), of: source)
      isStored = await stages.store(
        finished, of: source, from: body, inMemory: inMemory, replacing: replaces, permit: permit)
    }
    for (variant, result) in results {
      switch result {
      case .success(let thumbnail):
        stages.statistics.add(1, to: \.rendered)
        if thumbnail.isDamaged { stages.statistics.add(1, to: \.damaged) }
        let response = ThumbnailResponse(
          thumbnail: thumbnail, origin: .source, downloadedBytes: body.downloadedBytes, bytesLeft: body.bytesLeft,
          isStored: isStored && !thumbnail.isDamaged, plan: plan, duration: .zero)
        desk.answer(variant, of: source, with: .success(response))
      case .failure(let error):
        desk.answer(variant, of: source, with: .failure(error)) { waiters in
          if isRevalidation {
            stages.events.send(source, .revalidationFailed(error))
          } else {
            stages.statistics.add(waiters, to: \.failures)
            stages.events.send(source, .failed([variant], error))
          }
        }
      }
    }
    // Once something of this body is stored, nothing of an earlier one is.
    return replaces && finished.isEmpty
  }

  /// Answers everybody who waits for a thumbnail from the caches.
  func deliver(
    _ found: PipelineStages.FoundThumbnail, origin: ThumbnailResponse.Origin, isStored: Bool = true
  ) {
    if !isRevalidation { stages.statistics.add(1, to: \.diskHits) }
    desk.answer(found.variant, of: source, with: .success(found.response(origin: origin, isStored: isStored)))
  }
}
