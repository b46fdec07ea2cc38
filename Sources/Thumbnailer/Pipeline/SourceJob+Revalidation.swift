import Foundation
import HTTPSemantics
import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// Revalidation in a job: what it requests from the server, and what the response means for the stored thumbnails.
extension SourceJob {
  /// What the server's response says about the stored thumbnails, with its body. Kept as one value, since a body that
  /// stays for later waiters implies the same for them.
  enum Verdict {
    /// No response yet: each thumbnail's own freshness decides.
    case none
    /// Not modified. `isKept`: whether the caches keep the thumbnails; the same response may forbid storing.
    case unchanged(isKept: Bool)
    /// A body. `replaces`: what happens to the stored thumbnails when the first ones made from this body are stored.
    case sent(SourceBody, replaces: Replacement)
  }

  /// A job's state of revalidation.
  struct RevalidationState {
    var verdict = Verdict.none
    /// Whether the verdict is from this round. It applies to variants requested before it.
    private(set) var isVerdictNew = false
    /// Stale thumbnails that wait for the server's response.
    var outdated: [PipelineStages.FoundThumbnail] = []
    /// What was known of the source at the last look-up of the cache.
    var history = SourceHistory()
    /// Whether a request was sent. Before that a failure comes from the cache.
    var hasAsked = false
    /// When the last response stops being cacheable, if the server limits that.
    var statedEnd: Date?

    /// Drops a verdict that applied to earlier waiters, but not a body.
    mutating func beginRound() {
      isVerdictNew = false
      if case .unchanged = verdict { verdict = .none }
    }

    /// Records a new verdict.
    mutating func hear(_ verdict: Verdict) { (self.verdict, isVerdictNew) = (verdict, true) }

    /// Moves the body out, so that the caller has the only copy.
    mutating func takeBody() -> (body: SourceBody, replaces: Replacement)? {
      guard case .sent(let body, let replaces) = verdict else { return nil }
      verdict = .none
      return (body, replaces)
    }

    /// Whether there is a body to decode.
    var hasBody: Bool { if case .sent = verdict { true } else { false } }
    /// Whether the stored thumbnails are known to be of an earlier version than the body.
    var replacesStored: Bool { if case .sent(_, .all) = verdict { true } else { false } }
    /// Whether the stored thumbnails are known to be current, even if they are stale by their dates.
    var confirmsStored: Bool {
      switch verdict {
      case .none: false
      case .unchanged: isVerdictNew
      case .sent: isVerdictNew && !replacesStored
      }
    }
  }

  /// Requests the image, conditionally if possible: a 304 confirms that everything requested is stored.
  ///
  /// A conditional request is only sent if no variant is `missing`, since that one needs the body in any case, and only
  /// to a URL that has sent a validator.
  func revalidateOrFetch(_ missing: [Variant], _ revalidationState: inout RevalidationState)
    async throws(ThumbnailError)
  {
    let history = source.isUserFile ? SourceHistory() : revalidationState.history
    if let refusal = stages.refusal(of: source, history) { throw refusal }
    revalidationState.hasAsked = true
    guard missing.isEmpty, let known = source.knownResponse(in: history), !known.metadata.conditions.isEmpty else {
      let body = try await fetchBody(demand: waiters.demand, insteadOf: nil, &revalidationState)
      revalidationState.hear(.sent(body, replaces: replacement(by: body, history)))
      return
    }
    // With a stale thumbnail to serve, a failing server is not retried; without one, the usual attempts apply.
    let canWait = stages.mayServeStale(history, after: .serverFailed(status: 503))
    let revalidation: PipelineStages.Revalidation
    do throws(FetchFailure) {
      revalidation = try await stages.revalidate(
        source, known: known, canWait: canWait, demand: waiters.demand, permit: permit, priority: priority,
        progress: progress)
    } catch {
      revalidationState.statedEnd = error.end
      throw error.error
    }
    switch revalidation {
    case .unchanged(let isKept): revalidationState.hear(.unchanged(isKept: isKept))
    case .changed(let body):
      revalidationState.statedEnd = body.statedEnd
      tellReplaced()
      revalidationState.hear(.sent(body, replaces: .all))
    }
  }

  /// Fetches the body again in place of an insufficient one. Returns what happens to the stored thumbnails: the image
  /// may have changed in between.
  func fetchAgain(
    _ body: inout SourceBody, demand: VariantDemand?, replaces: Replacement,
    _ revalidationState: inout RevalidationState
  ) async throws(ThumbnailError) -> Replacement {
    body = try await fetchBody(demand: demand, insteadOf: body.giveUp(), &revalidationState)
    if case .all = replaces { return replaces }
    return replacement(by: body, revalidationState.history)
  }

  /// What happens to the stored thumbnails when those made from the body of an unconditional request are stored.
  ///
  /// - Parameter history: What was stored at the last look-up. Another process may store an earlier version after it;
  ///   that is noticed when the new thumbnails are stored.
  private func replacement(by body: SourceBody, _ history: SourceHistory) -> Replacement {
    if source.isUserFile { return .none }
    let rule = stages.rule
    guard stages.cache.updated(history, of: source.key).isOutdated(by: body.response, rule: rule) else {
      return .ifOutdated(by: rule) { [source, statistics = stages.statistics, events = stages.events] in
        statistics.add(1, to: \.replacements)
        events.send(source, .replaced)
      }
    }
    tellReplaced()
    return .all
  }

  /// Notices in what was just looked up that another process has stored an earlier version than the body.
  func noticeOutdated(_ revalidationState: inout RevalidationState) {
    guard case .sent(let body, .ifOutdated) = revalidationState.verdict,
      case .all = replacement(by: body, revalidationState.history)
    else { return }
    revalidationState.verdict = .sent(body, replaces: .all)
  }

  private func tellReplaced() {
    stages.statistics.add(1, to: \.replacements)
    stages.events.send(source, .replaced)
  }

  /// Serves the stale thumbnails that a 304 has confirmed. If the server has sent a body instead, returns their
  /// variants, to be rendered from it.
  func serveConfirmed(_ revalidationState: inout RevalidationState) async -> [Variant] {
    let outdated = revalidationState.outdated
    revalidationState.outdated = []
    guard case .unchanged(let isKept) = revalidationState.verdict else { return outdated.map(\.variant) }
    for var found in outdated {
      var isStored = isKept
      if found.isShrunk, isKept {
        let history = await stages.history(of: source, priority: priority)
        found.stored.freshness = history.freshness(by: stages.rule)
        let inMemory = waiters.keptInMemory([found.variant])
        isStored = await stages.store(
          found.variant, shrunk: found.stored, of: source, inMemory: inMemory, permit: permit)
      }
      deliver(found, origin: .revalidated, isStored: isStored)
    }
    return []
  }

  /// Delivers a stale thumbnail and revalidates it in the background, if its server allows that. Returns whether it
  /// does.
  func serveWhileRevalidating(
    _ found: PipelineStages.FoundThumbnail, _ history: SourceHistory, keepsInMemory: Bool
  ) -> Bool {
    guard !isRevalidation, stages.mayServeWhileRevalidating(source, history),
      waiters.revalidateBehind(found.variant, of: source, options: options, keepsInMemory: keepsInMemory)
    else { return false }
    stages.statistics.add(1, to: \.servedWhileRevalidating)
    stages.events.send(source, .servedWhileRevalidating(found.variant))
    deliver(found, origin: .stale)
    return true
  }

  /// Ends the job with an error; if the server is at fault, waiters are served stale thumbnails where there are any.
  func fail(with error: ThumbnailError, _ revalidationState: inout RevalidationState) async {
    var stale: [Variant: ThumbnailResponse] = [:]
    if !isRevalidation, stages.mayServeStale(revalidationState.history, after: error) {
      // Waiters that came meanwhile may be served stale thumbnails, too.
      _ = await serveFromCache(waiters.takeVariants(), &revalidationState)
      for found in revalidationState.outdated { stale[found.variant] = found.response(origin: .stale) }
      if !stale.isEmpty {
        stages.statistics.add(stale.count, to: \.servedStale)
        stages.statistics.add(stale.count, to: \.diskHits)
        stages.events.send(source, .servedStale(revalidationState.outdated.map(\.variant), error))
      }
    }
    if revalidationState.hasAsked {
      // The image is gone, so its stored thumbnails are obsolete.
      if case .notFound = error, source.knownResponse(in: revalidationState.history) != nil {
        stages.forgetThumbnails(of: source, permit: permit)
      }
      stages.remember(error, of: source, revalidationState.history, end: revalidationState.statedEnd, permit: permit)
    }
    waiters.fail(with: error, except: stale) { count($0, error, hasAsked: revalidationState.hasAsked) }
  }

  /// Counts the failed requests, and sends an event.
  private func count(_ variants: [Variant], _ error: ThumbnailError, hasAsked: Bool) {
    guard !variants.isEmpty, error != .cancelled else { return }
    if isRevalidation { return stages.events.send(source, .revalidationFailed(error)) }
    stages.statistics.add(variants.count, to: \.failures)
    if error == .notCached {
      stages.statistics.add(variants.count, to: \.offlineMisses)
    } else if !hasAsked {
      stages.statistics.add(variants.count, to: \.rememberedFailures)
    }
    stages.events.send(source, .failed(variants, error))
  }
}
