import Foundation
import ThumbnailCore

/// Request coalescing: one job per source and options, with the waiters for each of its variants.
///
/// A pure value without locks, tasks or clocks. Its owner guards it and carries out the returned actions after
/// unlocking. `Sink` is what a waiter's result is delivered to.
struct JobTable<Sink> {
  /// What one job works on: an image and its URL. Server-side sizes of an image are one image to the cache, but a job
  /// for the small one cannot serve the large one.
  struct Subject: Hashable, Sendable {
    fileprivate let key: SourceKey
    fileprivate let url: URL
    /// Requests with other options have a job of their own.
    fileprivate let options: RequestOptions
    /// Whether this is a background revalidation, after the waiter was served a stale thumbnail.
    fileprivate let isRevalidation: Bool

    init(_ source: ImageSource, options: RequestOptions = RequestOptions(), isRevalidation: Bool = false) {
      key = source.key
      url = source.url
      self.options = options
      self.isRevalidation = isRevalidation
    }

    /// Hashes the digest alone: few subjects differ in the rest only.
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
  }

  /// Identifies a job for the life of the process.
  struct JobID: Hashable, Sendable { fileprivate let number: UInt64 }
  /// Identifies a waiter for the life of the process.
  struct WaiterID: Hashable, Sendable {
    fileprivate let number: UInt64
    fileprivate let job: JobID
  }

  /// The action for a new waiter.
  enum JoinAction: Equatable {
    /// There was no job for this source: start this one.
    case start(JobID)
    /// Joined a running job; set its priority to this.
    case joined(JobID, priority: Priority)
  }

  /// The action for a waiter that leaves.
  enum LeaveAction: Equatable {
    /// The waiter has had its result already.
    case none
    /// It was the last waiter: cancel the job, which is no longer in the table.
    case cancel(JobID)
    /// Other waiters remain; set the job's priority to this.
    case goOn(JobID, priority: Priority)
  }

  private struct Waiter {
    let variant: Variant
    var priority: Priority
    let keepsInMemory: Bool
    let sink: Sink
  }

  private struct Job {
    let subject: Subject
    var waiters: [UInt64: Waiter] = [:]
    /// Variants that the job has taken and not finished yet.
    var taken: [Variant] = []

    /// The variants with waiters, each once. They are few, so an array is quicker than a set.
    var wanted: [Variant] {
      var variants: [Variant] = []
      for waiter in waiters.values where !variants.contains(waiter.variant) { variants.append(waiter.variant) }
      return variants
    }

    var priority: Priority {
      waiters.values.contains { $0.priority == .visible } ? .visible : .prefetch
    }
  }

  /// The running jobs.
  private var jobs: [JobID: Job] = [:]
  /// The jobs that requests can join. Those of images that were removed meanwhile still serve their waiters, but cannot
  /// be joined.
  private var joinable: [Subject: JobID] = [:]
  private var nextNumber: UInt64 = 0

  /// The number of running jobs.
  var jobCount: Int { jobs.count }

  /// Adds a waiter to the job of the request's source, which is created if there is none.
  mutating func join(
    _ request: ThumbnailRequest, isRevalidation: Bool = false, sink: Sink
  ) -> (WaiterID, JoinAction) {
    nextNumber += 1
    let subject = Subject(request.source, options: request.options, isRevalidation: isRevalidation)
    let entry = Waiter(
      variant: request.variant, priority: request.priority, keepsInMemory: request.keepsInMemory, sink: sink)
    if let id = joinable[subject] {
      jobs[id]?.waiters[nextNumber] = entry
      return (WaiterID(number: nextNumber, job: id), .joined(id, priority: priority(of: id) ?? request.priority))
    }
    let id = JobID(number: nextNumber)
    jobs[id] = Job(subject: subject, waiters: [nextNumber: entry])
    joinable[subject] = id
    return (WaiterID(number: nextNumber, job: id), .start(id))
  }

  /// Removes a waiter before it has had its result, and returns its sink.
  mutating func leave(_ waiter: WaiterID) -> (Sink?, LeaveAction) {
    guard let entry = jobs[waiter.job]?.waiters.removeValue(forKey: waiter.number) else { return (nil, .none) }
    guard removeIfDone(waiter.job) else {
      return (entry.sink, .goOn(waiter.job, priority: priority(of: waiter.job) ?? .prefetch))
    }
    return (entry.sink, .cancel(waiter.job))
  }

  /// Changes a waiter's priority and so its job's. Returns the job; nil if the waiter has had its result.
  mutating func setPriority(of waiter: WaiterID, to priority: Priority) -> JobID? {
    let changed: Void? = jobs[waiter.job]?.waiters[waiter.number]?.priority = priority
    return changed == nil ? nil : waiter.job
  }

  /// The job that requests for a subject join; nil if there is none.
  func job(of subject: Subject) -> JobID? { joinable[subject] }

  /// Whether a job has not ended.
  func isRunning(_ id: JobID) -> Bool { jobs[id] != nil }

  /// Removes a job without waiters. Returns whether it has none.
  private mutating func removeIfDone(_ id: JobID) -> Bool {
    guard let job = jobs[id], job.waiters.isEmpty else { return false }
    remove(id)
    return true
  }

  /// Removes and returns a job.
  @discardableResult
  private mutating func remove(_ id: JobID) -> Job? {
    guard let job = jobs.removeValue(forKey: id) else { return nil }
    if joinable[job.subject] == id { joinable[job.subject] = nil }
    return job
  }

  /// Detaches the jobs of an image, from all its URLs: they still serve their waiters, but new requests start new jobs.
  /// Returns the detached jobs.
  mutating func detach(_ source: SourceKey) -> [JobID] { detach { $0.key == source } }

  /// Detaches all jobs.
  mutating func detachAll() -> [JobID] { detach { _ in true } }

  private mutating func detach(where isMeant: (Subject) -> Bool) -> [JobID] {
    let leaving = joinable.filter { isMeant($0.key) }
    for subject in leaving.keys { joinable[subject] = nil }
    return Array(leaving.values)
  }

  /// Takes the variants that have waiters and are not in progress; the caller works on them from now on.
  mutating func takeVariants(for id: JobID) -> [Variant] {
    guard let job = jobs[id] else { return [] }
    let wanted = job.wanted.filter { !job.taken.contains($0) }
    jobs[id]?.taken += wanted
    return wanted.sorted { ($0.size.pixelCount, $0.token) > ($1.size.pixelCount, $1.token) }
  }

  /// Whether the variant has waiters.
  func isWanted(_ variant: Variant, for id: JobID) -> Bool {
    jobs[id]?.waiters.values.contains { $0.variant == variant } ?? false
  }

  /// Whether the thumbnail goes to the memory cache: if at least one waiter wants that, or if there is none left.
  func keepsInMemory(_ variant: Variant, for id: JobID) -> Bool {
    var hasWaiters = false
    for waiter in jobs[id]?.waiters.values ?? [:].values where waiter.variant == variant {
      if waiter.keepsInMemory { return true }
      hasWaiters = true
    }
    return !hasWaiters
  }

  /// The variants that still have waiters; the others are no longer in progress.
  mutating func stillWanted(_ variants: [Variant], for id: JobID) -> [Variant] {
    guard let wanted = jobs[id]?.wanted else { return [] }
    jobs[id]?.taken.removeAll { !wanted.contains($0) }
    return variants.filter(wanted.contains)
  }

  /// Removes and returns the waiters of a finished variant, for the caller to resume. The job ends in the same step
  /// with its last waiter, so that a request after that result starts a new one.
  mutating func finish(_ variant: Variant, for id: JobID) -> [Sink] {
    guard let waiters = jobs[id]?.waiters else { return [] }
    let finished = waiters.filter { $0.value.variant == variant }
    jobs[id]?.taken.removeAll { $0 == variant }
    for number in finished.keys { jobs[id]?.waiters[number] = nil }
    _ = removeIfDone(id)
    return finished.sorted { $0.key < $1.key }.map(\.value.sink)
  }

  /// Ends the job, and removes and returns all its waiters, for the caller to resume.
  mutating func end(_ id: JobID) -> [(variant: Variant, sink: Sink)] {
    guard let job = remove(id) else { return [] }
    return job.waiters.sorted { $0.key < $1.key }.map { ($0.value.variant, $0.value.sink) }
  }

  /// A job's current priority; nil if it has ended.
  func priority(of id: JobID) -> Priority? { jobs[id]?.priority }
}
