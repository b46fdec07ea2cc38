/// What a job asks the server, and what its word means for the thumbnails that are stored.
extension SourceJob {
  /// What a job knows of the thumbnails that are stored of its source.
  struct Standing {
    /// What the server has said of them since they were asked for.
    enum Word {
      /// Nothing: each holds for its own time.
      case none
      /// They are of the picture as it is.
      case unchanged
      /// They are of what the picture was before.
      case changed
    }

    var word = Word.none
    /// Thumbnails that are out of date, until the server has spoken.
    var outdated: [PipelineStages.FoundThumbnail] = []
    /// Whether the caches keep thumbnails that the server has confirmed: it may forbid that with the same answer.
    var isKept = true
    /// What was known of the source when the server was asked.
    var notes = SourceNotes()
    /// Whether anybody was asked. Until then a failure is one that is remembered.
    var hasAsked = false
  }

  /// Gets the picture. Nil when all that was asked for is stored, and the server says that it still holds.
  ///
  /// The server is asked whether the picture has changed only where that can do: a thumbnail that is `missing` takes the
  /// body in any case, and only the URL that has named a body can be asked about it.
  func askServer(
    _ missing: [Variant], _ standing: inout Standing
  ) async throws(ThumbnailError) -> SourceBody? {
    let notes = await stages.notes(of: source, priority: priority)
    standing.notes = notes
    if let refusal = stages.refusal(of: source, notes) { throw refusal }
    standing.hasAsked = true
    let body: SourceBody
    if missing.isEmpty, let known = source.knownAnswer(in: notes), !known.metadata.conditions.isEmpty {
      // Whatever goes wrong then is asked once. Where an answer that says so would be an error, it is asked as usual.
      let canWait = stages.mayServeStale(notes, after: .serverFailed(status: 503))
      switch try await stages.revalidate(
        source, known: known, canWait: canWait, demand: desk.demand, priority: priority, progress: progress)
      {
      case .unchanged(let isKept):
        (standing.word, standing.isKept) = (.unchanged, isKept)
        return nil
      case .changed(let changed):
        (standing.word, body) = (.changed, changed)
      }
    } else {
      body = try await fetchBody(demand: desk.demand, insteadOf: nil)
      let isFresh = stages.cache.rule.admits(notes.freshness(by: stages.cache.rule))
      standing.word = notes.areOutdated(by: body.answer, isFresh: isFresh) ? .changed : .unchanged
    }
    if standing.word == .changed {
      stages.statistics.add(1, to: \.replacements)
      stages.events.send(source, .replaced)
    }
    return body
  }

  /// Answers those who wait for thumbnails that were out of date and that the server has confirmed. Where it has sent a
  /// body instead, returns the variants, to be made anew of that.
  func settleOutdated(_ standing: inout Standing, by body: SourceBody?) async -> [Variant] {
    let outdated = standing.outdated
    standing.outdated = []
    guard body == nil else { return outdated.map(\.variant) }
    for var found in outdated {
      var isStored = standing.isKept
      if found.isShrunk, standing.isKept {
        let notes = await stages.notes(of: source, priority: priority)
        found.stored.freshness = notes.freshness(by: stages.cache.rule)
        let inMemory = desk.keptInMemory([found.variant], of: source)
        isStored = await stages.store(found.variant, shrunk: found.stored, of: source, inMemory: inMemory)
      }
      deliver(found, origin: .revalidated, isStored: isStored)
    }
    return []
  }

  /// Ends the job with an error: whoever can be served by what is stored is, if it is the server that is at fault.
  func fail(with error: ThumbnailError, _ standing: inout Standing) async {
    var stale: [Variant: ThumbnailResponse] = [:]
    if stages.mayServeStale(standing.notes, after: error) {
      // Those who came meanwhile may be served by what is stored, too.
      _ = await answerFromCache(desk.takeVariants(of: source), &standing)
      for found in standing.outdated { stale[found.variant] = found.response(origin: .stale) }
      if !stale.isEmpty {
        stages.statistics.add(stale.count, to: \.servedStale)
        stages.statistics.add(stale.count, to: \.diskHits)
        stages.events.send(source, .servedStale(standing.outdated.map(\.variant), error))
      }
    }
    if standing.hasAsked {
      // The picture is gone, and what is stored of it was of another.
      if case .notFound = error, source.knownAnswer(in: standing.notes) != nil {
        await stages.forgetThumbnails(of: source)
      }
      stages.remember(error, of: source, standing.notes)
    }
    desk.fail(source, with: error, except: stale) { count($0, error, hasAsked: standing.hasAsked) }
  }

  /// Counts the requests that fail, and tells of them.
  private func count(_ variants: [Variant], _ error: ThumbnailError, hasAsked: Bool) {
    guard !variants.isEmpty, error != .cancelled else { return }
    stages.statistics.add(variants.count, to: \.failures)
    if error == .notCached {
      stages.statistics.add(variants.count, to: \.offlineMisses)
    } else if !hasAsked {
      stages.statistics.add(variants.count, to: \.rememberedFailures)
    }
    stages.events.send(source, .failed(variants, error))
  }
}
