@testable import HTTPTransport
@testable import ThumbnailCore

/// Downloads of hosts that fail in random ways, played without sockets and clocks: the real admission and retry policy,
/// called as `Downloader` calls them. Times are seconds.
struct HostSimulation {
  /// How requests fail.
  enum Fault: CaseIterable { case refused, status, pause, silent }

  /// A host, and what it does.
  struct Host {
    var site = ""
    var latency = 0.05
    /// The numbers of images that come, and of those that always fail by `fault`.
    var good = 0
    var broken = 0
    var fault = Fault.status
    /// What a pause asks for.
    var pause = 1.0
    /// While it is down every request fails, in this way.
    var outages: [(time: Range<Double>, fault: Fault)] = []
    /// The most requests that it responds to in a second; others are asked for a pause.
    var rate: Double?
    var isDead = false
  }

  struct Image {
    let host: Int
    let isGood: Bool
  }

  /// What came of an image.
  enum Outcome: Equatable { case made, failed, hostHeld }

  private enum Event {
    case ends(Int, attempt: Int, TransferOutcome)
    case fallsSilent(Int, attempt: Int)
    case retries(Int)
    case probeEnds(site: Int, DownloadTicket, TransferOutcome)
    case wakes
  }

  private struct Download {
    var ticket: DownloadTicket?
    var attempt = 0
    var isRunning = false
  }

  /// No transfer receives nothing for longer.
  private static let stallTimeout = 20.0
  private static let start = ContinuousClock().systemEpoch

  let hosts: [Host]
  let images: [Image]
  let patience: Double
  private(set) var outcomes: [Outcome?]
  /// The requests that each host has received.
  private(set) var requests: [Int]
  /// When the last image of each host was made.
  private(set) var lastMade: [Double]
  private(set) var now = 0.0
  private var admission: DownloadAdmission<Int>
  private var random: SeededRandom
  private let retry = RetryPolicy()
  private var downloads: [Download]
  private var events: [(time: Double, event: Event)] = []
  private var tokens: [Double]
  private var refilled: [Double]
  private var wakesAt = Double.infinity

  init(hosts: [Host], images: [Image], patience: Double, seed: UInt64) {
    (self.hosts, self.images, self.patience) = (hosts, images, patience)
    random = SeededRandom(seed: seed)
    var health = HostHealth.Policy()
    health.patience = .seconds(patience)
    health.unnamedPause.limit(to: .seconds(patience / 8))
    health.backoff.limit(to: .seconds(patience / 45))
    admission = DownloadAdmission(maximum: 16, maximumPerSite: 6, health: health, random: SeededRandom(seed: seed ^ 77))
    outcomes = Array(repeating: nil, count: images.count)
    downloads = Array(repeating: Download(), count: images.count)
    requests = Array(repeating: 0, count: hosts.count)
    lastMade = Array(repeating: 0, count: hosts.count)
    tokens = hosts.map { $0.rate ?? 0 }
    refilled = Array(repeating: 0, count: hosts.count)
  }

  /// Plays until every image has an outcome. False if it would never end, or only after so many steps that it hangs.
  mutating func run() -> Bool {
    for image in images.indices { enqueue(image, deferred: false) }
    carryOutSteps()
    var steps = 0
    while let next = events.indices.min(by: { events[$0].time < events[$1].time }) {
      steps += 1
      if steps > 400 * (images.count + 100) { return false }
      let (time, event) = events.remove(at: next)
      now = max(now, time)
      handle(event)
      carryOutSteps()
      if outcomes.allSatisfy({ $0 != nil }) { return true }
    }
    return outcomes.allSatisfy { $0 != nil }
  }

  private var instant: ContinuousClock.Instant { Self.start + .seconds(now) }

  private mutating func enqueue(_ image: Int, deferred: Bool) {
    let earlier = downloads[image].ticket
    let ticket = earlier ?? admission.nextTicket()
    downloads[image].ticket = ticket
    admission.enqueue(
      image, ticket, site: hosts[images[image].host].site, at: .prefetch, isReturning: earlier != nil,
      deferred: deferred, now: instant)
  }

  // MARK: What the owner of the admission does

  private mutating func carryOutSteps() {
    while let step = admission.nextStep(at: instant) {
      switch step {
      case .start(let image): begin(image)
      case .preempt(let image):
        events.append((now, .ends(image, attempt: downloads[image].attempt, .inconclusive)))
      case .fail(let image, _): finish(image, .hostHeld)
      case .probe(let site, let ticket): probe(hosts.firstIndex { $0.site == site } ?? 0, ticket)
      case .park, .share, .report: break
      }
    }
    guard let wake = admission.nextWake(after: instant) else { return }
    let time = (wake - Self.start) / .seconds(1) + 1e-6
    if time < wakesAt || wakesAt <= now {
      wakesAt = time
      events.append((time, .wakes))
    }
  }

  private mutating func begin(_ image: Int) {
    downloads[image].attempt += 1
    downloads[image].isRunning = true
    let host = images[image].host
    let (outcome, time) = response(of: host, isGood: images[image].isGood)
    if case .failed("silent") = outcome {
      events.append((now + 1, .fallsSilent(image, attempt: downloads[image].attempt)))
    }
    events.append((now + time, .ends(image, attempt: downloads[image].attempt, outcome)))
  }

  private mutating func probe(_ host: Int, _ ticket: DownloadTicket) {
    let (outcome, time) = response(of: host, isGood: true)
    // As `HostProbes` limits them.
    events.append((now + min(time, 3), .probeEnds(site: host, ticket, outcome)))
  }

  private mutating func response(of host: Int, isGood: Bool) -> (TransferOutcome, Double) {
    requests[host] += 1
    let model = hosts[host]
    let outage = model.outages.first { $0.time.contains(now) }?.fault
    if let fault = model.isDead ? model.fault : outage { return failure(fault, model) }
    if let rate = model.rate {
      tokens[host] = min(rate, tokens[host] + (now - refilled[host]) * rate)
      refilled[host] = now
      guard tokens[host] >= 1 else { return failure(.pause, model) }
      tokens[host] -= 1
    }
    if !isGood { return failure(model.fault, model) }
    return (.responded, model.latency * Double.random(in: 0.5...1.5, using: &random))
  }

  private mutating func failure(_ fault: Fault, _ model: Host) -> (TransferOutcome, Double) {
    switch fault {
    case .refused: (.unreachable(reason: "refused"), 0.001)
    case .status: (.failed(reason: "status"), model.latency * Double.random(in: 0.5...1.5, using: &random))
    case .pause: (.pause(.seconds(model.pause)), model.latency)
    case .silent: (.failed(reason: "silent"), Self.stallTimeout)
    }
  }

  // MARK: What the downloader does

  private mutating func handle(_ event: Event) {
    switch event {
    case .wakes: break
    case .retries(let image): enqueue(image, deferred: true)
    case .probeEnds(let host, let ticket, let outcome):
      admission.probed(ticket, at: hosts[host].site, outcome, now: instant)
    case .fallsSilent(let image, let attempt):
      guard let ticket = downloads[image].ticket, downloads[image].isRunning, downloads[image].attempt == attempt else {
        return
      }
      admission.fellSilent(ticket, since: instant - .seconds(1), now: instant)
    case .ends(let image, let attempt, let outcome):
      guard downloads[image].isRunning, downloads[image].attempt == attempt else { return }
      ended(image, outcome)
    }
  }

  private mutating func ended(_ image: Int, _ outcome: TransferOutcome) {
    guard let ticket = downloads[image].ticket else { return }
    downloads[image].isRunning = false
    let (host, site) = (images[image].host, hosts[images[image].host].site)
    admission.release(ticket, outcome, now: instant)
    let error: DownloadError
    switch outcome {
    case .responded:
      admission.hasSentImage(site)
      lastMade[host] = now
      return finish(image, .made)
    case .inconclusive: return enqueue(image, deferred: true)
    case .failed, .unreachable: error = .httpStatus(500, retryAfter: nil)
    case .pause(let pause): error = .httpStatus(429, retryAfter: pause)
    }
    let (failures, more) = admission.charge(ticket, at: site, excuses: true, now: instant)
    guard
      let pause = retry.pause(after: error, failures: failures, most: retry.maximumAttempts + more, using: &random)
    else {
      return finish(image, .failed)
    }
    let seconds = pause / .seconds(1)
    if error.isPause, seconds > patience { return finish(image, .failed) }
    events.append((now + seconds, .retries(image)))
  }

  private mutating func finish(_ image: Int, _ outcome: Outcome) {
    outcomes[image] = outcome
    if let ticket = downloads[image].ticket { admission.forget(ticket) }
  }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
