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
  }

  /// Identifies a job for the life of the process.
  struct JobID: Hashable, Sendable {
    fileprivate let number: UInt64
    fileprivate let subject: Subject
  }
  /// Identifies a waiter for the life of the process.
  struct WaiterID: Hashable, Sendable {
    fileprivate let number: UInt64
    fileprivate let subject: Subject
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
    let id: JobID
    var waiters: [UInt64: Waiter] = [:]
    /// Variants that the job has taken and not finished yet.
    var taken: Set<Variant> = []

    var priority: Priority { waiters.values.map(\.priority).max() ?? .prefetch }
  }

  /// The jobs that requests can join.
  private var jobs: [Subject: Job] = [:]
  /// The jobs of images that were removed meanwhile: they still serve their waiters, but cannot be joined.
  private var detached: [JobID: Job] = [:]
  private var nextNumber: UInt64 = 0

  /// The number of running jobs.
  var jobCount: Int { jobs.count + detached.count }

  /// A running job, detached or not. Setting nil removes it.
  private subscript(id: JobID) -> Job? {
    get { jobs[id.subject].flatMap { $0.id == id ? $0 : nil } ?? detached[id] }
    set { if jobs[id.subject]?.id == id { jobs[id.subject] = newValue } else { detached[id] = newValue } }
  }

  /// The job of a waiter; nil if the waiter has had its result.
  private func job(of waiter: WaiterID) -> Job? {
    if let job = jobs[waiter.subject], job.waiters[waiter.number] != nil { return job }
    return detached.isEmpty ? nil : detached.values.first { $0.waiters[waiter.number] != nil }
  }

  /// Adds a waiter to the job of the request's source, which is created if there is none.
  mutating func join(
    _ request: ThumbnailRequest, isRevalidation: Bool = false, sink: Sink
  ) -> (WaiterID, JoinAction) {
    nextNumber += 1
    let subject = Subject(request.source, options: request.options, isRevalidation: isRevalidation)
    let waiter = WaiterID(number: nextNumber, subject: subject)
    let entry = Waiter(
      variant: request.variant, priority: request.priority, keepsInMemory: request.keepsInMemory, sink: sink)
    if let index = jobs.index(forKey: waiter.subject) {
      jobs.values[index].waiters[waiter.number] = entry
      return (waiter, .joined(jobs.values[index].id, priority: jobs.values[index].priority))
    }
    let job = Job(id: JobID(number: nextNumber, subject: subject), waiters: [waiter.number: entry])
    jobs[waiter.subject] = job
    return (waiter, .start(job.id))
  }

  /// Removes a waiter before it has had its result, and returns its sink.
  mutating func leave(_ waiter: WaiterID) -> (Sink?, LeaveAction) {
    guard var job = job(of: waiter), let entry = job.waiters.removeValue(forKey: waiter.number) else {
      return (nil, .none)
    }
    if job.waiters.isEmpty {
      self[job.id] = nil
      return (entry.sink, .cancel(job.id))
    }
    self[job.id] = job
    return (entry.sink, .goOn(job.id, priority: job.priority))
  }

  /// Changes a waiter's priority and so its job's. Returns the job; nil if the waiter has had its result.
  mutating func setPriority(of waiter: WaiterID, to priority: Priority) -> JobID? {
    guard var job = job(of: waiter) else { return nil }
    job.waiters[waiter.number]?.priority = priority
    self[job.id] = job
    return job.id
  }

  /// The job that requests for a subject join; nil if there is none.
  func job(of subject: Subject) -> JobID? { jobs[subject]?.id }

  /// Whether a job has not ended.
  func isRunning(_ id: JobID) -> Bool { self[id] != nil }

  /// Detaches the jobs of an image, from all its URLs: they still serve their waiters, but new requests start new jobs.
  /// Returns the detached jobs.
  mutating func detach(_ source: SourceKey) -> [JobID] { detach { $0.key == source } }

  /// Detaches all jobs.
  mutating func detachAll() -> [JobID] { detach { _ in true } }

  private mutating func detach(where isMeant: (Subject) -> Bool) -> [JobID] {
    let leaving = jobs.filter { isMeant($0.key) }
    for (subject, job) in leaving {
      jobs[subject] = nil
      detached[job.id] = job
    }
    return leaving.values.map(\.id)
  }

  /// Takes the variants that have waiters and are not in progress; the caller works on them from now on.
  mutating func takeVariants(for id: JobID) -> [Variant] {
    guard var job = self[id] else { return [] }
    let wanted = Set(job.waiters.values.map(\.variant)).subtracting(job.taken)
    job.taken.formUnion(wanted)
    self[id] = job
    return wanted.sorted { ($0.size.pixelCount, $0.token) > ($1.size.pixelCount, $1.token) }
  }

  /// Whether the variant has waiters.
  func isWanted(_ variant: Variant, for id: JobID) -> Bool {
    guard let job = self[id] else { return false }
    return job.waiters.values.contains { $0.variant == variant }
  }

  /// Whether the thumbnail goes to the memory cache: if at least one waiter wants that, or if there is none left.
  func keepsInMemory(_ variant: Variant, for id: JobID) -> Bool {
    guard let job = self[id] else { return true }
    let waiters = job.waiters.values.filter { $0.variant == variant }
    return waiters.isEmpty || waiters.contains { $0.keepsInMemory }
  }

  /// The variants that still have waiters; the others are no longer in progress.
  mutating func stillWanted(_ variants: [Variant], for id: JobID) -> [Variant] {
    guard var job = self[id] else { return [] }
    let wanted = Set(job.waiters.values.map(\.variant))
    job.taken.formIntersection(wanted)
    self[id] = job
    return variants.filter(wanted.contains)
  }

  /// Removes and returns the waiters of a finished variant, for the caller to resume. The job ends in the same step
  /// with its last waiter, so that a request after that result starts a new one.
  mutating func finish(_ variant: Variant, for id: JobID) -> [Sink] {
    guard var job = self[id] else { return [] }
    job.taken.remove(variant)
    let finished = job.waiters.filter { $0.value.variant == variant }
    for number in finished.keys { job.waiters[number] = nil }
    self[id] = job.waiters.isEmpty ? nil : job
    return finished.sorted { $0.key < $1.key }.map(\.value.sink)
  }

  /// Ends the job, and removes and returns all its waiters, for the caller to resume.
  mutating func end(_ id: JobID) -> [(variant: Variant, sink: Sink)] {
    guard let job = self[id] else { return [] }
    self[id] = nil
    return job.waiters.sorted { $0.key < $1.key }.map { ($0.value.variant, $0.value.sink) }
  }

  /// A job's current priority; nil if it has ended.
  func priority(of id: JobID) -> Priority? { self[id]?.priority }
}
