import Foundation
import ThumbnailCore

/// Request coalescing: one job per source and options, with the waiters for each of its variants.
///
/// A value without locks and clocks. Its owner synchronises it and starts new jobs. The owner also resumes and cancels
/// the returned waiters and jobs after unlocking. `Sink` receives a waiter's result.
struct JobTable<Sink> {
  /// The subject of a job: an image and its URL. The cache treats the server's sizes of an image as one image, but a
  /// job for the small size cannot serve the large one.
  struct Subject: Hashable, Sendable {
    fileprivate let key: SourceKey
    fileprivate let url: URL
    /// Requests with other options have their own job.
    fileprivate let options: RequestOptions
    /// Whether this is a background revalidation, after the waiter was served a stale thumbnail.
    fileprivate let isRevalidation: Bool

    init(_ source: ImageSource, options: RequestOptions = RequestOptions(), isRevalidation: Bool = false) {
      key = source.key
      url = source.url
      self.options = options
      self.isRevalidation = isRevalidation
    }

    /// Hashes only the digest, because few subjects differ only in the rest.
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
  }

  /// Identifies a job for the life of the process.
  struct JobID: Hashable, Sendable { fileprivate let number: UInt64 }
  /// Identifies a waiter for the life of the process.
  struct WaiterID: Hashable, Sendable {
    fileprivate let number: UInt64
    let job: JobID
  }

  /// A job's task, and its context, which can change while it runs.
  struct Work {
    let task: Task<Void, Never>
    let context: JobContext
  }

  private struct Waiter {
    let variant: Variant
    var priority: Priority
    let sink: Sink
  }

  private struct Job {
    let subject: Subject
    var waiters: [UInt64: Waiter] = [:]
    /// Variants that are in progress.
    var taken: [Variant] = []

    /// The variants with waiters, each once. An array is faster than a set for the few variants.
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
  /// The jobs that requests can join. Jobs of images that were removed meanwhile still serve their waiters, but cannot
  /// be joined.
  private var joinable: [Subject: JobID] = [:]
  private var nextNumber: UInt64 = 0
  /// The work of the running jobs.
  var work: [JobID: Work] = [:]
  /// The running jobs that are background revalidations.
  private(set) var revalidations: Set<JobID> = []

  /// The number of running jobs.
  var jobCount: Int { jobs.count }

  /// Adds a waiter to the job of the request's source. If there is none, creates a job, which the caller starts.
  mutating func join(
    _ request: ThumbnailRequest, isRevalidation: Bool = false, sink: Sink
  ) -> (waiter: WaiterID, isNew: Bool) {
    nextNumber += 1
    let subject = Subject(request.source, options: request.options, isRevalidation: isRevalidation)
    let entry = Waiter(variant: request.variant, priority: request.priority, sink: sink)
    if let id = joinable[subject] {
      jobs[id]?.waiters[nextNumber] = entry
      return (WaiterID(number: nextNumber, job: id), false)
    }
    let id = JobID(number: nextNumber)
    jobs[id] = Job(subject: subject, waiters: [nextNumber: entry])
    joinable[subject] = id
    if isRevalidation { revalidations.insert(id) }
    return (WaiterID(number: nextNumber, job: id), true)
  }

  /// Removes a waiter and returns its sink; nil if it has received its result. If it was the last waiter, also removes
  /// the job and returns its work, which the caller cancels.
  mutating func leave(_ waiter: WaiterID) -> (sink: Sink?, ended: Work?) {
    guard let entry = jobs[waiter.job]?.waiters.removeValue(forKey: waiter.number) else { return (nil, nil) }
    return (entry.sink, removeIfDone(waiter.job)?.work)
  }

  /// Changes a waiter's priority, and so its job's. Returns the job; nil if the waiter has received its result.
  mutating func setPriority(of waiter: WaiterID, to priority: Priority) -> JobID? {
    let changed: Void? = jobs[waiter.job]?.waiters[waiter.number]?.priority = priority
    return changed == nil ? nil : waiter.job
  }

  /// The job that requests for a subject join; nil if there is none.
  func job(of subject: Subject) -> JobID? { joinable[subject] }

  /// Whether a job has not ended.
  func isRunning(_ id: JobID) -> Bool { jobs[id] != nil }

  /// Removes a job if it has no waiters.
  @discardableResult
  private mutating func removeIfDone(_ id: JobID) -> (job: Job, work: Work?)? {
    jobs[id]?.waiters.isEmpty == true ? remove(id) : nil
  }

  private mutating func remove(_ id: JobID) -> (job: Job, work: Work?)? {
    guard let job = jobs.removeValue(forKey: id) else { return nil }
    if joinable[job.subject] == id { joinable[job.subject] = nil }
    revalidations.remove(id)
    return (job, work.removeValue(forKey: id))
  }

  /// Detaches the jobs of all URLs of an image. They still serve their waiters, but new requests start new jobs.
  /// Returns the detached jobs.
  mutating func detach(_ source: SourceKey) -> [JobID] { detach { $0.key == source } }

  /// Detaches all jobs.
  mutating func detachAll() -> [JobID] { detach { _ in true } }

  private mutating func detach(where isMeant: (Subject) -> Bool) -> [JobID] {
    let leaving = joinable.filter { isMeant($0.key) }
    for subject in leaving.keys { joinable[subject] = nil }
    return Array(leaving.values)
  }

  /// Takes the variants that have waiters and are not in progress. They are in progress from now on.
  mutating func takeVariants(for id: JobID) -> [Variant] {
    guard let job = jobs[id] else { return [] }
    let wanted = job.wanted.filter { !job.taken.contains($0) }
    jobs[id]?.taken += wanted
    return wanted.sorted { ($0.size.pixelCount, $0.token) > ($1.size.pixelCount, $1.token) }
  }

  /// Whether these variants all have waiters, and all others that have are in progress.
  func isUpToDate(_ variants: [Variant], for id: JobID) -> Bool {
    guard let job = jobs[id] else { return true }
    return job.wanted.allSatisfy(job.taken.contains) && variants.allSatisfy(job.wanted.contains)
  }

  /// Whether the variant has waiters.
  func isWanted(_ variant: Variant, for id: JobID) -> Bool {
    jobs[id]?.waiters.values.contains { $0.variant == variant } ?? false
  }

  /// The variants that still have waiters. The others are no longer in progress.
  mutating func stillWanted(_ variants: [Variant], for id: JobID) -> [Variant] {
    guard let wanted = jobs[id]?.wanted else { return [] }
    jobs[id]?.taken.removeAll { !wanted.contains($0) }
    return variants.filter(wanted.contains)
  }

  /// Removes and returns the waiters of a finished variant, which the caller resumes. If no waiter is left, the job
  /// ends in the same step, so that a later request starts a new one.
  mutating func finish(_ variant: Variant, for id: JobID) -> [Sink] {
    guard let waiters = jobs[id]?.waiters else { return [] }
    let finished = waiters.filter { $0.value.variant == variant }
    jobs[id]?.taken.removeAll { $0 == variant }
    for number in finished.keys { jobs[id]?.waiters[number] = nil }
    removeIfDone(id)
    return finished.sorted { $0.key < $1.key }.map(\.value.sink)
  }

  /// Ends the job. Removes and returns all its waiters, which the caller resumes.
  mutating func end(_ id: JobID) -> [(variant: Variant, sink: Sink)] {
    guard let job = remove(id)?.job else { return [] }
    return job.waiters.sorted { $0.key < $1.key }.map { ($0.value.variant, $0.value.sink) }
  }

  /// A job's current priority; nil if it has ended.
  func priority(of id: JobID) -> Priority? { jobs[id]?.priority }
}
