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
  let waiters: ThumbnailPipeline.JobWaiters
  /// Whether it asks about thumbnails that were handed out before: nobody waits for it.
  let isRevalidation: Bool

  /// Goes down the list of stages, again for every set of variants that came in meanwhile.
  func run() async {
    var revalidationState = RevalidationState()
    do {
      var missing: [Variant] = []
      repeat {
        revalidationState.beginRound()
        missing += await answerFromCache(waiters.takeVariants(of: source), &revalidationState)
        dropUnwanted(&missing, &revalidationState)
        guard !missing.isEmpty || !revalidationState.outdated.isEmpty else { continue }
        // What is out of date again since the body came is asked about again.
        if !revalidationState.hasBody || !revalidationState.outdated.isEmpty {
          // Ends as soon as everything that is asked by then can be made of what has arrived. Who waits for it holds no
          // other body.
          revalidationState.verdict = .none
          try await askServer(missing, &revalidationState)
        }
        // Whoever came while the body was on its way shares its decode.
        missing += await answerFromCache(waiters.takeVariants(of: source), &revalidationState)
        missing += await settleOutdated(&revalidationState)
        missing = waiters.stillWanted(missing, of: source)
        guard !missing.isEmpty, revalidationState.hasBody else { continue }
        try await render(missing, &revalidationState)
        missing = []
      } while !waiters.isDone(source)
    } catch {
      await fail(with: error, &revalidationState)
    }
  }

  /// Forgets what nobody waits for any more. Where the others were answered meanwhile, nobody could stop what is done for
  /// it.
  private func dropUnwanted(_ missing: inout [Variant], _ revalidationState: inout RevalidationState) {
    let wanted = Set(waiters.stillWanted(missing + revalidationState.outdated.map(\.variant), of: source))
    missing.removeAll { !wanted.contains($0) }
    revalidationState.outdated.removeAll { !wanted.contains($0.variant) }
  }

  /// Answers what the caches hold, exactly or in a larger size, and returns the rest. What is out of date waits for the
  /// server's word.
  func answerFromCache(_ variants: [Variant], _ revalidationState: inout RevalidationState) async -> [Variant] {
    // Of a picture that has changed nothing that is stored will do.
    if revalidationState.replacesStored { return variants }
    var missing: [Variant] = []
    for variant in variants {
      let started = ContinuousClock.now
      let inMemory = waiters.keptInMemory([variant], of: source)
      guard
        let found = await stages.storedThumbnail(
          variant, of: source, keepsInMemory: !inMemory.isEmpty, permit: permit, priority: priority)
      else {
        // There is nothing left to ask about.
        if isRevalidation {
          waiters.answer(variant, of: source, with: .failure(.notCached))
        } else {
          missing.append(variant)
        }
        continue
      }
      guard found.isFresh || revalidationState.confirmsStored else {
        if await !serveWhileRevalidating(found, keepsInMemory: !inMemory.isEmpty) {
          revalidationState.outdated.append(found)
        }
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
  private func render(_ variants: [Variant], _ revalidationState: inout RevalidationState) async throws(ThumbnailError)
  {
    guard var (body, replaces) = revalidationState.takeBody() else { return }
    while true {
      switch try await stages.render(variants, of: source, from: body, priority: priority) {
      case .done(let results, let plan):
        replaces = await answer(results, from: body, plan: plan, replaces: replaces)
        revalidationState.verdict = .sent(body, replaces: replaces)
        return
      case .needsWholeBody:
        replaces = try await fetchAgain(&body, demand: nil, replaces: replaces, &revalidationState)
      case .needsPicture:
        if !body.isComplete {
          replaces = try await fetchAgain(&body, demand: waiters.demand, replaces: replaces, &revalidationState)
        }
        body.mayUsePreview = false
      case .needsLibvips:
        if !body.isComplete {
          replaces = try await fetchAgain(&body, demand: nil, replaces: replaces, &revalidationState)
        }
        body.mayReadCoefficients = false
      }
    }
  }

  func fetchBody(
    demand: VariantDemand?, insteadOf spent: SourceBody.Spent?, _ revalidationState: inout RevalidationState
  ) async throws(ThumbnailError) -> SourceBody {
    do throws(FetchFailure) {
      let body = try await stages.fetchBody(
        of: source, demand: demand, insteadOf: spent, priority: priority, progress: progress)
      revalidationState.statedEnd = body.statedEnd
      return body
    } catch {
      revalidationState.statedEnd = error.end
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
      let inMemory = waiters.keptInMemory(finished.map(\.0), of: source)
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
        waiters.answer(variant, of: source, with: .success(response))
      case .failure(let error):
        waiters.answer(variant, of: source, with: .failure(error)) { waiters in
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
    waiters.answer(found.variant, of: source, with: .success(found.response(origin: origin, isStored: isStored)))
  }
}
