import ThumbnailCache
import ThumbnailCore

/// The work for all requests of one source: caches, server, body, decode, store, deliver.
///
/// Runs until the source has no waiters. Requests that join while it runs are served from the same body.
struct SourceJob: Sendable {
  private let id: RunningJobs.JobID
  private let job: JobContext
  private let stages: PipelineStages
  /// The table of the job's waiters.
  private let jobs: RunningJobs
  private let loader: any BodyLoader
  /// Revalidates stale thumbnails; nil if they never become stale.
  private let revalidator: Revalidator?
  /// Whether this is a background revalidation of stale thumbnails that were served already.
  private let isRevalidation: Bool

  init(
    _ id: RunningJobs.JobID, _ job: JobContext, stages: PipelineStages, jobs: RunningJobs, isRevalidation: Bool
  ) {
    (self.id, self.job, self.stages, self.jobs, self.isRevalidation) = (id, job, stages, jobs, isRevalidation)
    loader = stages.loader(of: job.source)
    revalidator = stages.revalidator(of: job.source)
  }

  /// Runs through the stages, once for each set of variants that was requested meanwhile.
  func run() async {
    var state = JobState()
    do {
      repeat {
        state.beginRound()
        await serveFromCache(&state)
        // Variants without waiters are dropped. Once the others are delivered, nothing could cancel the work for them.
        let wanted = jobs.table.withLock { $0.stillWanted(state.missing + state.stale.map(\.variant), for: id) }
        state.missing.removeAll { !wanted.contains($0) }
        state.stale.removeAll { !wanted.contains($0.variant) }
        guard !state.missing.isEmpty || !state.stale.isEmpty else { continue }
        // Thumbnails that became stale after the body arrived are revalidated again.
        if !state.hasBody || !state.stale.isEmpty { try await revalidateOrLoad(&state) }
        // Requests that joined during the download share its decode.
        await serveFromCache(&state)
        await serveConfirmed(&state)
        state.missing = jobs.table.withLock { $0.stillWanted(state.missing, for: id) }
        if !state.missing.isEmpty, state.hasBody { try await render(&state) }
      } while jobs.table.withLock({ $0.isRunning(id) })
    } catch {
      await fail(with: error, &state)
    }
    // All waiters have their thumbnails. The body stays in memory while too many thumbnails are pending, so that
    // further downloads wait. A job that stores nothing does not wait.
    if !job.policy.bypassesCaches { await stages.cache.waitForRoom(priority: job.priority) }
    withExtendedLifetime(state) {}
  }

  // MARK: Cache

  /// Serves new requests from the caches, exact or shrunk. The others are missing, or wait for the server's response.
  private func serveFromCache(_ state: inout JobState) async {
    let variants = jobs.table.withLock { $0.takeVariants(for: id) }
    // The image has changed, so no stored thumbnail is valid any more.
    if state.replacesStored || job.policy.bypassesCaches { return state.missing += variants }
    if variants.isEmpty { return }
    let started = ContinuousClock.now
    let lookup = await stages.cache.lookUp(
      variants, of: job.source.key, lasts: revalidator == nil, permit: job.permit, admittedBy: job.policy.rule,
      priority: job.priority)
    if let history = lookup.history {
      state.history = history
      // Another process may have stored an earlier version than the body.
      if case .body(let body, .ifOutdated) = state.verdict,
        revalidator?.replacement(by: body, state.history, for: job).isAll == true
      {
        state.replaceStored()
      }
      if state.replacesStored { return state.missing += variants }
    }
    for (variant, hit) in zip(variants, lookup.hits) {
      guard let hit, let found = await stages.storedThumbnails.thumbnail(variant, from: hit, for: job)
      else {
        // There is nothing left to revalidate.
        if isRevalidation {
          jobs.finish(variant, of: id, with: .failure(.notCached))
        } else {
          state.missing.append(variant)
        }
        continue
      }
      guard found.isFresh || state.confirmsStored else {
        if !serveWhileRevalidating(found, state.history) { state.stale.append(found) }
        continue
      }
      var receipt: StoreReceipt?
      if found.isShrunk { receipt = await stages.store.store(shrunk: found, for: job) }
      if !isRevalidation {
        stages.monitor.send(job.source, .diskHit(variant, shrunk: found.isShrunk, duration: .now - started))
      }
      deliver(found, origin: found.isShrunk ? .shrunk : .disk, isStored: !found.isShrunk, receipt: receipt)
    }
  }

  /// Delivers a stale thumbnail and revalidates it in the background, if its server allows this. Returns whether it
  /// does.
  private func serveWhileRevalidating(_ found: FoundThumbnail, _ history: SourceHistory) -> Bool {
    guard !isRevalidation, !job.policy.options.isStoredOnly,
      revalidator?.mayServeWhileRevalidating(history, for: job) == true,
      jobs.revalidateBehind(found.variant, for: job)
    else { return false }
    stages.monitor.add(1, to: \.servedWhileRevalidating)
    stages.monitor.send(job.source, .servedWhileRevalidating(found.variant))
    deliver(found, origin: .stale)
    return true
  }

  /// Serves the stale thumbnails that a 304 has confirmed. If the server has sent a body instead, makes them again.
  private func serveConfirmed(_ state: inout JobState) async {
    let stale = state.stale
    state.stale = []
    guard case .unchanged(let isKept) = state.verdict else { return state.missing += stale.map(\.variant) }
    for var found in stale {
      var receipt: StoreReceipt?
      if found.isShrunk, isKept {
        let history = await stages.cache.history(of: job.source.key, priority: job.priority)
        found.stored.freshness = history.freshness(by: job.policy.rule)
        receipt = await stages.store.store(shrunk: found, for: job)
      }
      deliver(found, origin: .revalidated, isStored: isKept && !found.isShrunk, receipt: receipt)
    }
  }

  // MARK: Body

  /// Loads the image, with a conditional request if possible. A 304 confirms all requested thumbnails.
  ///
  /// The request is conditional only if no variant is missing, because a missing one needs the body in any case, and
  /// only for a URL that has sent a validator.
  private func revalidateOrLoad(_ state: inout JobState) async throws(ThumbnailError) {
    // No other body is held while waiting for this one.
    state.verdict = .none
    if job.policy.options.isStoredOnly { throw .notCached }
    if let refusal = revalidator?.failures.refusal(for: job, state.history) { throw refusal }
    state.hasAsked = true
    guard let revalidator, state.missing.isEmpty, let known = job.source.knownResponse(in: state.history),
      !known.metadata.conditions.isEmpty
    else {
      let body = try await load(isWhole: false, &state)
      state.verdict = .body(body, replaces: revalidator?.replacement(by: body, state.history, for: job) ?? .none)
      return
    }
    do throws(FetchFailure) {
      switch try await revalidator.revalidate(known, in: state.history, for: job) {
      case .unchanged(let isKept): state.verdict = .unchanged(isKept: isKept)
      case .changed(let body):
        state.statedEnd = body.statedEnd
        state.verdict = .body(body, replaces: .all)
      }
    } catch {
      state.statedEnd = error.end
      throw error.error
    }
  }

  /// Loads the body. The transfer ends as soon as the received bytes suffice for all variants requested by then.
  private func load(
    isWhole: Bool, insteadOf spent: SourceBody.Spent? = nil, _ state: inout JobState
  ) async throws(ThumbnailError) -> SourceBody {
    do throws(FetchFailure) {
      let body = try await loader.load(for: job, isWhole: isWhole, insteadOf: spent)
      state.statedEnd = body.statedEnd
      return body
    } catch {
      state.statedEnd = error.end
      throw error.error
    }
  }

  // MARK: Thumbnails

  /// Decodes the body once for all missing variants, and delivers each one's result. Keeps the final body.
  ///
  /// If the preview does not match, the image itself is decoded. If a body that was stopped early cannot serve a
  /// variant, because the variant was requested later or the file is not as expected, the whole body is loaded. A whole
  /// body is never stopped, so there are at most three rounds.
  private func render(_ state: inout JobState) async throws(ThumbnailError) {
    guard var (body, replaces) = state.takeBody() else { return }
    while true {
      let missing = state.missing
      let rendering = try await stages.renderer.render(missing, from: &body, for: job) { [jobs, id] in
        jobs.table.withLock { $0.isUpToDate(missing, for: id) }
      }
      switch rendering {
      case .requestsChanged:
        // The next round looks the new variants up, and makes all the missing ones from this body.
        state.verdict = .body(body, replaces: replaces)
        return
      case .done(let results, let plan):
        replaces = await store(results, from: body, plan: plan, replaces: replaces)
        state.verdict = .body(body, replaces: replaces)
        state.missing = []
        return
      case .needsWholeBody: try await loadMore(isWhole: true, instead: &body, &replaces, &state)
      case .needsBodyOfImage:
        try await loadMore(isWhole: false, instead: &body, &replaces, &state)
        body.previews = .off
      }
    }
  }

  /// Loads the body again, as there was too little of it.
  private func loadMore(
    isWhole: Bool, instead body: inout SourceBody, _ replaces: inout Replacement, _ state: inout JobState
  ) async throws(ThumbnailError) {
    body = try await load(isWhole: isWhole, insteadOf: body.release(), &state)
    // The image may have changed meanwhile.
    if let revalidator, !replaces.isAll { replaces = revalidator.replacement(by: body, state.history, for: job) }
  }

  /// Stores the thumbnails made from a body, then delivers them to their waiters. Returns which stored thumbnails later
  /// variants of this body must still replace.
  private func store(
    _ results: [RenderedThumbnail], from body: SourceBody, plan: String?, replaces: Replacement
  ) async -> Replacement {
    let made = results.compactMap { rendered in
      (try? rendered.result.get()).map { CacheEntry(variant: rendered.variant, thumbnail: $0) }
    }
    let receipt = await stages.store.store(made, from: body, replacing: replaces, for: job)
    for rendered in results {
      switch rendered.result {
      case .success(let thumbnail):
        stages.monitor.add(1, to: \.rendered)
        if thumbnail.isDamaged { stages.monitor.add(1, to: \.damaged) }
        let response = ThumbnailResponse(
          thumbnail: thumbnail, origin: .source, downloadedBytes: body.downloadedBytes, bytesLeft: body.bytesLeft,
          isStored: false, receipt: thumbnail.isDamaged ? nil : receipt, plan: plan)
        jobs.finish(rendered.variant, of: id, with: .success(response))
      case .failure(let error):
        jobs.finish(rendered.variant, of: id, with: .failure(error)) { number in
          count(Array(repeating: rendered.variant, count: number), error, hasAsked: true)
        }
      }
    }
    // Once a thumbnail of this body is stored, no earlier version is left.
    return made.isEmpty ? replaces : .none
  }

  /// Delivers a cached thumbnail to all its waiters.
  private func deliver(
    _ found: FoundThumbnail, origin: ThumbnailResponse.Origin, isStored: Bool = true, receipt: StoreReceipt? = nil
  ) {
    if !isRevalidation { stages.monitor.add(1, to: \.diskHits) }
    let response = found.response(origin: origin, isStored: isStored, receipt: receipt)
    jobs.finish(found.variant, of: id, with: .success(response))
  }

  // MARK: Failure

  /// Ends the job with an error. If the server is at fault, waiters get stale thumbnails, if any.
  private func fail(with error: ThumbnailError, _ state: inout JobState) async {
    var stale: [Variant: ThumbnailResponse] = [:]
    if !isRevalidation, revalidator?.mayServeStale(state.history, after: error, for: job) == true {
      // Waiters that joined meanwhile may get stale thumbnails, too.
      await serveFromCache(&state)
      for found in state.stale { stale[found.variant] = found.response(origin: .stale) }
      if !stale.isEmpty {
        stages.monitor.add(stale.count, to: \.servedStale)
        stages.monitor.add(stale.count, to: \.diskHits)
        stages.monitor.send(job.source, .servedStale(state.stale.map(\.variant), error))
      }
    }
    if state.hasAsked { revalidator?.failures.remember(error, state.history, end: state.statedEnd, for: job) }
    jobs.end(id, with: error, except: stale) { count($0, error, hasAsked: state.hasAsked) }
  }

  /// Counts the failed requests, a variant for each of them, and sends an event.
  private func count(_ variants: [Variant], _ error: ThumbnailError, hasAsked: Bool) {
    guard !variants.isEmpty, error != .cancelled, !job.policy.options.isStoredOnly else { return }
    if isRevalidation { return stages.monitor.send(job.source, .revalidationFailed(error)) }
    stages.monitor.add(variants.count, to: \.failures)
    if error == .notCached {
      stages.monitor.add(variants.count, to: \.offlineMisses)
    } else if !hasAsked {
      stages.monitor.add(variants.count, to: \.rememberedFailures)
    }
    stages.monitor.send(job.source, .failed(variants, error))
  }
}
