import Foundation
import HTTPSemantics
import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// What a job asks the server, and what its response means for the thumbnails that are stored.
extension SourceJob {
  /// What the server has said of the stored thumbnails, with the body that it sent. One value: a body that stays for
  /// whoever joins later keeps what it means for them.
  enum Verdict {
    /// Nothing: each holds for its own time.
    case none
    /// They are of the picture as it is. `isKept`: whether the caches keep them; the server may forbid that with the same
    /// response.
    case unchanged(isKept: Bool)
    /// The picture itself. `replaces`: the stored thumbnails are of what it was before, and give way to the first that are
    /// made of this body.
    case sent(SourceBody, replaces: Bool)
  }

  /// What a job knows of the thumbnails that are stored of its source.
  struct RevalidationState {
    var verdict = Verdict.none
    /// Whether the verdict was given in this round. It counts for those who asked before it.
    private(set) var isVerdictNew = false
    /// Thumbnails that are out of date, until the server has spoken.
    var outdated: [PipelineStages.FoundThumbnail] = []
    /// What was known of the source when the server was asked.
    var notes = SourceHistory()
    /// Whether anybody was asked. Until then a failure is one that is remembered.
    var hasAsked = false
    /// Until when what the server has said last may be kept, as far as it limits that.
    var statedEnd: Date?

    /// Forgets a verdict that was for those who asked before, but not the body that came with it.
    mutating func beginRound() {
      isVerdictNew = false
      if case .unchanged = verdict { verdict = .none }
    }

    /// Takes what the server has just said.
    mutating func hear(_ verdict: Verdict) { (self.verdict, isVerdictNew) = (verdict, true) }

    /// Hands over the body: whoever works with it holds the only copy.
    mutating func takeBody() -> (body: SourceBody, replaces: Bool)? {
      guard case .sent(let body, let replaces) = verdict else { return nil }
      verdict = .none
      return (body, replaces)
    }

    /// Whether the picture's bytes are at hand.
    var hasBody: Bool { if case .sent = verdict { true } else { false } }
    /// Whether what is stored is of an earlier picture than the body at hand.
    var replacesStored: Bool { if case .sent(_, let replaces) = verdict { replaces } else { false } }
    /// Whether what is stored is of the picture as it is, whatever its own time.
    var confirmsStored: Bool {
      switch verdict {
      case .none: false
      case .unchanged: isVerdictNew
      case .sent(_, let replaces): isVerdictNew && !replaces
      }
    }
  }

  /// Gets the picture, or the server's word that all that was asked for is stored and still holds.
  ///
  /// The server is asked whether the picture has changed only where that can do: a thumbnail that is `missing` takes the
  /// body in any case, and only the URL that has named a body can be asked about it.
  func askServer(_ missing: [Variant], _ revalidationState: inout RevalidationState) async throws(ThumbnailError) {
    let notes = await stages.notes(of: source, priority: priority)
    revalidationState.notes = notes
    if let refusal = stages.refusal(of: source, notes) { throw refusal }
    revalidationState.hasAsked = true
    guard missing.isEmpty, let known = source.knownAnswer(in: notes), !known.metadata.conditions.isEmpty else {
      let body = try await fetchBody(demand: waiters.demand, insteadOf: nil, &revalidationState)
      revalidationState.hear(.sent(body, replaces: await replacesStored(body)))
      return
    }
    // Whatever goes wrong then is asked once. Where an answer that says so would be an error, it is asked as usual.
    let canWait = stages.mayServeStale(notes, after: .serverFailed(status: 503))
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
      revalidationState.hear(.sent(body, replaces: true))
    }
  }

  /// Gets the bytes once more in the place of a body that did not do. Returns whether they replace what is stored: the
  /// picture may have changed again in between.
  func fetchAgain(
    _ body: inout SourceBody, demand: VariantDemand?, replaces: Bool, _ revalidationState: inout RevalidationState
  ) async throws(ThumbnailError) -> Bool {
    body = try await fetchBody(demand: demand, insteadOf: body.giveUp(), &revalidationState)
    if replaces { return true }
    return await replacesStored(body)
  }

  /// Whether what is stored by now is of an earlier picture than a body that was asked for without a condition.
  private func replacesStored(_ body: SourceBody) async -> Bool {
    let notes = await stages.notes(of: source, priority: priority)
    let isFresh = stages.cache.rule.admits(notes.freshness(by: stages.cache.rule))
    guard notes.areOutdated(by: body.answer, isFresh: isFresh) else { return false }
    tellReplaced()
    return true
  }

  private func tellReplaced() {
    stages.statistics.add(1, to: \.replacements)
    stages.events.send(source, .replaced)
  }

  /// Answers those who wait for thumbnails that were out of date and that the server has confirmed. Where it has sent a
  /// body instead, returns the variants, to be made anew of that.
  func settleOutdated(_ revalidationState: inout RevalidationState) async -> [Variant] {
    let outdated = revalidationState.outdated
    revalidationState.outdated = []
    guard case .unchanged(let isKept) = revalidationState.verdict else { return outdated.map(\.variant) }
    for var found in outdated {
      var isStored = isKept
      if found.isShrunk, isKept {
        let notes = await stages.notes(of: source, priority: priority)
        found.stored.freshness = notes.freshness(by: stages.cache.rule)
        let inMemory = waiters.keptInMemory([found.variant], of: source)
        isStored = await stages.store(
          found.variant, shrunk: found.stored, of: source, inMemory: inMemory, permit: permit)
      }
      deliver(found, origin: .revalidated, isStored: isStored)
    }
    return []
  }

  /// Hands out a thumbnail that is out of date and has it asked about behind, where its server allows that. Returns whether
  /// it did.
  func serveWhileRevalidating(_ found: PipelineStages.FoundThumbnail, keepsInMemory: Bool) async -> Bool {
    guard !isRevalidation, await stages.mayServeWhileRevalidating(source, priority: priority),
      waiters.revalidateBehind(found.variant, of: source, keepsInMemory: keepsInMemory)
    else { return false }
    stages.statistics.add(1, to: \.servedWhileRevalidating)
    stages.events.send(source, .servedWhileRevalidating(found.variant))
    deliver(found, origin: .stale)
    return true
  }

  /// Ends the job with an error: whoever can be served by what is stored is, if it is the server that is at fault.
  func fail(with error: ThumbnailError, _ revalidationState: inout RevalidationState) async {
    var stale: [Variant: ThumbnailResponse] = [:]
    if !isRevalidation, stages.mayServeStale(revalidationState.notes, after: error) {
      // Those who came meanwhile may be served by what is stored, too.
      _ = await answerFromCache(waiters.takeVariants(of: source), &revalidationState)
      for found in revalidationState.outdated { stale[found.variant] = found.response(origin: .stale) }
      if !stale.isEmpty {
        stages.statistics.add(stale.count, to: \.servedStale)
        stages.statistics.add(stale.count, to: \.diskHits)
        stages.events.send(source, .servedStale(revalidationState.outdated.map(\.variant), error))
      }
    }
    if revalidationState.hasAsked {
      // The picture is gone, and what is stored of it was of another.
      if case .notFound = error, source.knownAnswer(in: revalidationState.notes) != nil {
        stages.forgetThumbnails(of: source, permit: permit)
      }
      stages.remember(error, of: source, revalidationState.notes, end: revalidationState.statedEnd, permit: permit)
    }
    waiters.fail(source, with: error, except: stale) { count($0, error, hasAsked: revalidationState.hasAsked) }
  }

  /// Counts the requests that fail, and tells of them.
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
