import Foundation
import ThumbnailCore

/// Who waits for what: one job for each source, and in it the waiters for its variants.
///
/// A pure value without locks, tasks or clocks. Its owner guards it and carries out the actions that it returns, after
/// unlocking. `Sink` is whatever a waiter is answered through.
struct JobTable<Sink> {
  /// What one job works on: a picture, and the place that its bytes come from. Forms of one picture that a server makes
  /// in different sizes are one picture to the cache, but a job for the small form cannot serve the large one.
  struct Subject: Hashable, Sendable {
    fileprivate let key: SourceKey
    fileprivate let url: URL
    /// Whether it is asked about behind those who were served: they wait for a job of their own.
    fileprivate let isRevalidation: Bool

    init(_ source: ImageSource, isRevalidation: Bool = false) {
      key = source.key
      url = source.url
      self.isRevalidation = isRevalidation
    }
  }

  /// Names a job for as long as the process runs.
  struct JobID: Hashable, Sendable { fileprivate let number: UInt64 }
  /// Names a waiter for as long as the process runs.
  struct WaiterID: Hashable, Sendable {
    fileprivate let number: UInt64
    fileprivate let subject: Subject
  }

  /// What follows from a new waiter.
  enum JoinAction: Equatable {
    /// Nobody works on this source yet: start this job.
    case start(JobID)
    /// A job runs already; its priority shall be this from now on.
    case joined(JobID, priority: Priority)
  }

  /// What follows from a waiter that leaves.
  enum LeaveAction: Equatable {
    /// The waiter was answered before.
    case none
    /// The last one left: stop the job. It is out of the table already.
    case cancel(JobID)
    /// Others still wait; the job's priority shall be this from now on.
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
    /// Variants that the job's worker has taken and not answered yet.
    var taken: Set<Variant> = []

    var priority: Priority { waiters.values.map(\.priority).max() ?? .prefetch }
  }

  /// The jobs that requests join.
  private var jobs: [Subject: Job] = [:]
  /// The jobs of images that were removed meanwhile: they answer those who wait, and nobody joins them.
  private var detached: [JobID: Job] = [:]
  private var nextNumber: UInt64 = 0

  /// The number of jobs that run.
  var jobCount: Int { jobs.count + detached.count }
  /// The number of waiters over all jobs.
  var waiterCount: Int {
    jobs.values.reduce(0) { $0 + $1.waiters.count } + detached.values.reduce(0) { $0 + $1.waiters.count }
  }

  /// A job that has not ended. Nil takes it out.
  private subscript(subject: Subject, id: JobID) -> Job? {
    get { jobs[subject].flatMap { $0.id == id ? $0 : nil } ?? detached[id] }
    set { if jobs[subject]?.id == id { jobs[subject] = newValue } else { detached[id] = newValue } }
  }

  /// The job of a waiter; nil when it was answered before.
  private func job(of waiter: WaiterID) -> Job? {
    if let job = jobs[waiter.subject], job.waiters[waiter.number] != nil { return job }
    return detached.isEmpty ? nil : detached.values.first { $0.waiters[waiter.number] != nil }
  }

  /// Adds a waiter to the job of the request's source, which is made when there is none.
  mutating func join(
    _ request: ThumbnailRequest, isRevalidation: Bool = false, sink: Sink
  ) -> (WaiterID, JoinAction) {
    nextNumber += 1
    let subject = Subject(request.source, isRevalidation: isRevalidation)
    let waiter = WaiterID(number: nextNumber, subject: subject)
    let entry = Waiter(
      variant: request.variant, priority: request.priority, keepsInMemory: request.keepsInMemory, sink: sink)
    if let index = jobs.index(forKey: waiter.subject) {
      jobs.values[index].waiters[waiter.number] = entry
      return (waiter, .joined(jobs.values[index].id, priority: jobs.values[index].priority))
    }
    let job = Job(id: JobID(number: nextNumber), waiters: [waiter.number: entry])
    jobs[waiter.subject] = job
    return (waiter, .start(job.id))
  }

  /// Takes a waiter out before it was answered, and hands back its sink.
  mutating func leave(_ waiter: WaiterID) -> (Sink?, LeaveAction) {
    guard var job = job(of: waiter), let entry = job.waiters.removeValue(forKey: waiter.number) else {
      return (nil, .none)
    }
    if job.waiters.isEmpty {
      self[waiter.subject, job.id] = nil
      return (entry.sink, .cancel(job.id))
    }
    self[waiter.subject, job.id] = job
    return (entry.sink, .goOn(job.id, priority: job.priority))
  }

  /// Changes a waiter's priority, which the job's follows from. Returns its job; nil when it was answered before.
  mutating func setPriority(of waiter: WaiterID, to priority: Priority) -> JobID? {
    guard var job = job(of: waiter) else { return nil }
    job.waiters[waiter.number]?.priority = priority
    self[waiter.subject, job.id] = job
    return job.id
  }

  /// The job that requests for a subject join; nil when there is none.
  func job(of subject: Subject) -> JobID? { jobs[subject]?.id }

  /// Whether a job has not ended.
  func isRunning(_ id: JobID, of subject: Subject) -> Bool { self[subject, id] != nil }

  /// Takes the jobs of an image out of the way, from wherever its bytes come: those who wait are answered by them, and
  /// whoever asks from now on begins anew. Returns these jobs.
  mutating func detach(_ source: SourceKey) -> [JobID] { detach { $0.key == source } }

  /// The same of all jobs.
  mutating func detachAll() -> [JobID] { detach { _ in true } }

  private mutating func detach(where isMeant: (Subject) -> Bool) -> [JobID] {
    let leaving = jobs.filter { isMeant($0.key) }
    for (subject, job) in leaving {
      jobs[subject] = nil
      detached[job.id] = job
    }
    return leaving.values.map(\.id)
  }

  /// The variants that somebody waits for and nobody works on. From now on the caller works on them.
  mutating func takeVariants(of subject: Subject, for id: JobID) -> [Variant] {
    guard var job = self[subject, id] else { return [] }
    let wanted = Set(job.waiters.values.map(\.variant)).subtracting(job.taken)
    job.taken.formUnion(wanted)
    self[subject, id] = job
    return wanted.sorted { ($0.size.pixelCount, $0.token) > ($1.size.pixelCount, $1.token) }
  }

  /// Whether somebody waits for the variant.
  func isWanted(_ variant: Variant, of subject: Subject, for id: JobID) -> Bool {
    guard let job = self[subject, id] else { return false }
    return job.waiters.values.contains { $0.variant == variant }
  }

  /// Whether the thumbnail goes to the memory cache: as soon as one waiter wants that, and when nobody waits any more.
  func keepsInMemory(_ variant: Variant, of subject: Subject, for id: JobID) -> Bool {
    guard let job = self[subject, id] else { return true }
    let waiters = job.waiters.values.filter { $0.variant == variant }
    return waiters.isEmpty || waiters.contains { $0.keepsInMemory }
  }

  /// Those of the variants that somebody still waits for; the others are no longer worked on.
  mutating func stillWanted(_ variants: [Variant], of subject: Subject, for id: JobID) -> [Variant] {
    guard var job = self[subject, id] else { return [] }
    let wanted = Set(job.waiters.values.map(\.variant))
    job.taken.formIntersection(wanted)
    self[subject, id] = job
    return variants.filter(wanted.contains)
  }

  /// Takes out the waiters of one finished variant, to be answered by the caller. The job ends with the last of them, so
  /// that whoever asks after that answer is not taken for one who joined it.
  mutating func finish(_ variant: Variant, of subject: Subject, for id: JobID) -> [Sink] {
    guard var job = self[subject, id] else { return [] }
    job.taken.remove(variant)
    let finished = job.waiters.filter { $0.value.variant == variant }
    for number in finished.keys { job.waiters[number] = nil }
    self[subject, id] = job.waiters.isEmpty ? nil : job
    return finished.sorted { $0.key < $1.key }.map(\.value.sink)
  }

  /// Ends the job and takes out all its waiters, to be answered by the caller.
  mutating func end(_ subject: Subject, for id: JobID) -> [(variant: Variant, sink: Sink)] {
    guard let job = self[subject, id] else { return [] }
    self[subject, id] = nil
    return job.waiters.sorted { $0.key < $1.key }.map { ($0.value.variant, $0.value.sink) }
  }

  /// The priority of a job as its waiters are now; nil when it has ended.
  func priority(of subject: Subject, for id: JobID) -> Priority? {
    guard let job = self[subject, id] else { return nil }
    return job.priority
  }
}
