import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// The work for all requests of one source: caches, server, download, plan, decode, store, deliver.
///
/// Runs until the source has no waiters. Requests that join while it runs are served from the same body.
struct SourceJob: Sendable {
  let source: ImageSource
  let priority: PriorityControl
  let progress: BodyProgress
  /// Permits storing what the job makes, until the image is removed.
  let permit: StorePermit
  /// The stages, by the options of this job's requests.
  let stages: PipelineStages
  /// What all its requests want otherwise than configured.
  let options: RequestOptions
  let waiters: ThumbnailPipeline.JobWaiters
  /// Whether this is a background revalidation of stale thumbnails that were served already.
  let isRevalidation: Bool

  /// Runs through the stages, again for each set of variants that was requested meanwhile.
  func run() async {
    var revalidationState = RevalidationState()
    do {
      var missing: [Variant] = []
      repeat {
        revalidationState.beginRound()
        missing += await serveFromCache(waiters.takeVariants(), &revalidationState)
        dropUnwanted(&missing, &revalidationState)
        guard !missing.isEmpty || !revalidationState.outdated.isEmpty else { continue }
        // Thumbnails that became stale since the body came are revalidated again.
        if !revalidationState.hasBody || !revalidationState.outdated.isEmpty {
          // The download ends as soon as everything requested by then can be made from what has arrived. No other body
          // is held while waiting for it.
          revalidationState.verdict = .none
          try await revalidateOrFetch(missing, &revalidationState)
        }
        // Requests that came during the download share its decode.
        missing += await serveFromCache(waiters.takeVariants(), &revalidationState)
        missing += await serveConfirmed(&revalidationState)
        missing = waiters.stillWanted(missing)
        guard !missing.isEmpty, revalidationState.hasBody else { continue }
        try await render(missing, &revalidationState)
        missing = []
      } while !waiters.isDone
    } catch {
      await fail(with: error, &revalidationState)
    }
  }

  /// Drops variants without waiters: once the others are delivered, nothing could cancel the work for them.
  private func dropUnwanted(_ missing: inout [Variant], _ revalidationState: inout RevalidationState) {
    let wanted = Set(waiters.stillWanted(missing + revalidationState.outdated.map(\.variant)))
    missing.removeAll { !wanted.contains($0) }
    revalidationState.outdated.removeAll { !wanted.contains($0.variant) }
  }

  /// Serves variants from the caches, exact or shrunk, and returns the missing ones. Stale thumbnails wait for the
  /// server's response.
  func serveFromCache(_ variants: [Variant], _ revalidationState: inout RevalidationState) async -> [Variant] {
    // The image has changed, so no stored thumbnail is valid.
    if revalidationState.replacesStored { return variants }
    if variants.isEmpty { return [] }
    let started = ContinuousClock.now
    let inMemory = waiters.keptInMemory(variants)
    let lookup = await stages.lookUp(
      variants, of: source, inMemory: inMemory, permit: permit, priority: priority)
    if let history = lookup.history {
      revalidationState.history = history
      noticeOutdated(&revalidationState)
      if revalidationState.replacesStored { return variants }
    }
    var missing: [Variant] = []
    for variant in variants {
      guard let hit = lookup.hits[variant],
        let found = await stages.thumbnail(variant, from: hit, of: source, priority: priority)
      else {
        // There is nothing left to revalidate.
        if isRevalidation {
          waiters.resume(variant, with: .failure(.notCached))
        } else {
          missing.append(variant)
        }
        continue
      }
      guard found.isFresh || revalidationState.confirmsStored else {
        if !serveWhileRevalidating(found, revalidationState.history, keepsInMemory: inMemory.contains(variant)) {
          revalidationState.outdated.append(found)
        }
        continue
      }
      var isStored = true
      if found.isShrunk {
        isStored = await stages.store(
          variant, shrunk: found.stored, of: source, inMemory: inMemory.intersection([variant]), permit: permit)
      }
      if !isRevalidation {
        stages.events.send(source, .diskHit(variant, shrunk: found.isShrunk, duration: .now - started))
      }
      deliver(found, origin: found.isShrunk ? .shrunk : .disk, isStored: isStored)
    }
    return missing
  }

  /// Decodes the body once for all the variants, and delivers each one's result. Keeps the final body.
  ///
  /// If the preview does not match, the image itself is decoded. Variants that a body stopped early cannot serve,
  /// because they were requested later or because the file is not as expected, need the whole body. That is never
  /// stopped, and libvips is the last reader, so there are at most four rounds.
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

  /// Stores the thumbnails made from a body, then delivers them to their waiters. Returns what later ones from it are
  /// still to replace.
  private func answer(
    _ results: [(Variant, Result<Thumbnail, ThumbnailError>)], from body: SourceBody, plan: String?,
    replaces: Replacement
  ) async -> Replacement {
    let finished = results.compactMap { variant, result in (try? result.get()).map { (variant, $0) } }
    var isStored = false
    if !finished.isEmpty {
      let inMemory = waiters.keptInMemory(finished.map(\.0))
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
        waiters.resume(variant, with: .success(response))
      case .failure(let error):
        waiters.resume(variant, with: .failure(error)) { waiters in
          if isRevalidation {
            stages.events.send(source, .revalidationFailed(error))
          } else if waiters > 0 {
            stages.statistics.add(waiters, to: \.failures)
            stages.events.send(source, .failed(Array(repeating: variant, count: waiters), error))
          }
        }
      }
    }
    // Once anything of this body is stored, nothing of an earlier version is.
    return finished.isEmpty ? replaces : .none
  }

  /// Delivers a cached thumbnail to all its waiters.
  func deliver(
    _ found: PipelineStages.FoundThumbnail, origin: ThumbnailResponse.Origin, isStored: Bool = true
  ) {
    if !isRevalidation { stages.statistics.add(1, to: \.diskHits) }
    waiters.resume(found.variant, with: .success(found.response(origin: origin, isStored: isStored)))
  }
}
