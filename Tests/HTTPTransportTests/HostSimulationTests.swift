/// No good image fails while its host responds, dead hosts get few requests, and every world ends.
///
/// `SIMULATED_WORLDS` sets how many worlds are played; the default is 300, and 60 in the gate.
@Suite(.timeLimit(.minutes(10))) struct HostSimulationTests {
  private static let worlds =
    ProcessInfo.processInfo.environment["SIMULATED_WORLDS"].flatMap { Int($0) }
    ?? Thoroughness.rounds(300).count

  /// An image that fails four times while others come cannot be told from a broken one: at hosts that limit their rate
  /// that happens to one image in 100,000.
  @Test func noGoodImageFailsWhileItsHostResponds() {
    var (good, lost) = (0, 0)
    // In the last two, broken images that ask for pauses come after each other when an outage is over.
    for seed in Array(0..<UInt64(Self.worlds)) + [3775, 11_961] {
      var world = Self.world(seed)
      let ended = world.run()
      #expect(ended, "world \(seed) hangs")
      guard ended else { continue }
      for (number, host) in world.hosts.enumerated() {
        let own = world.images.indices.filter { world.images[$0].host == number }
        if host.isDead {
          #expect(own.allSatisfy { world.outcomes[$0] != .made })
          #expect(world.requests[number] <= 60, "world \(seed): \(world.requests[number]) requests to the dead \(host)")
        } else {
          good += host.good
          let failed = own.count { world.images[$0].isGood && world.outcomes[$0] != .made }
          #expect(failed <= 1, "world \(seed) loses \(failed) of \(host.good) images of \(host)")
          lost += failed
        }
      }
    }
    #expect(lost * 50_000 <= good, "\(lost) of \(good)")
  }

  @Test(arguments: HostSimulation.Fault.allCases)
  func aDeadHostEndsWithinTheWaitAndDelaysNoOther(fault: HostSimulation.Fault) {
    func world(withDead: Bool) -> HostSimulation {
      let well = HostSimulation.Host(site: "http://well:80", good: 2000)
      let dead = HostSimulation.Host(site: "http://dead:80", good: 2000, fault: fault, pause: 3, isDead: true)
      let hosts = withDead ? [well, dead] : [well]
      let images = (0..<2000).flatMap { _ in hosts.indices.map { HostSimulation.Image(host: $0, isGood: true) } }
      return HostSimulation(hosts: hosts, images: images, patience: 20, seed: 1)
    }
    var (alone, both) = (world(withDead: false), world(withDead: true))
    #expect(alone.run() && both.run())
    #expect(both.now <= 25, "\(both.now) s")
    #expect(both.lastMade[0] <= alone.lastMade[0] * 1.05 + 0.5)
    #expect(both.requests[1] <= 60, "\(both.requests[1]) requests")
  }

  /// One to four hosts with broken images, outages, limits of their rate, or dead, and their images in some order.
  private static func world(_ seed: UInt64) -> HostSimulation {
    var random = SeededRandom(seed: seed)
    let patience = Double.random(in: 15...90, using: &random)
    var images: [HostSimulation.Image] = []
    let hosts = (0..<Int.random(in: 1...4, using: &random)).map { number in
      var host = HostSimulation.Host(site: "http://\(number):80")
      host.latency = [0.005, 0.05, 0.2, 1].randomElement(using: &random) ?? 0.05
      host.good = Int.random(in: 1...80, using: &random)
      host.broken = [0, 1, 5, 6, 20, 50].randomElement(using: &random) ?? 0
      host.fault = HostSimulation.Fault.allCases.randomElement(using: &random) ?? .status
      host.pause = [0, 1, 5, 3600].randomElement(using: &random) ?? 1
      switch Int.random(in: 0..<5, using: &random) {
      case 0: host.isDead = true
      case 1:
        host.broken = min(host.broken, 6)
        // One after the other, each shorter than the wait by the longest pause between two trials.
        var time = Double.random(in: 0...4, using: &random)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let length = Double.random(in: 0.1...(patience * 0.5), using: &random)
          host.outages.append(
            (time..<(time + length), [.refused, .status, .silent].randomElement(using: &random) ?? .status))
          time += length + Double.random(in: (2 + patience / 10)...(4 + patience / 5), using: &random)
        }
      case 2:
        // Broken images would take most of the few requests that are responded to.
        (host.good, host.broken) = (max(host.good, 12), min(host.broken, 1))
        host.rate = [2, 5, 10].randomElement(using: &random) ?? 2
        (host.pause, host.fault) = ([0, 1, 2].randomElement(using: &random) ?? 1, .status)
      default:
        // Otherwise nothing tells such a host from one that is dead.
        let trial = host.fault == .silent ? 1 : host.latency
        host.broken = min(
          host.broken, host.fault == .pause ? host.good / 6 : Int(patience / 2 / (trial + patience / 45)))
      }
      images += (0..<(host.good + host.broken)).map { .init(host: number, isGood: $0 >= host.broken) }
      return host
    }
    switch Int.random(in: 0..<3, using: &random) {
    case 0: images.sort { !$0.isGood && $1.isGood }
    case 1: images.sort { $0.isGood && !$1.isGood }
    default: images.shuffle(using: &random)
    }
    return HostSimulation(hosts: hosts, images: images, patience: patience, seed: seed)
  }
}
