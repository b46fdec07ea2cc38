@testable import PhotoSources

/// A gallery in a world where anything can happen at any time.
@Suite struct GalleryWorldTests {
  private static func nature(of seed: Int) -> GalleryWorld.Nature {
    GalleryWorld.Nature(
      hasStore: seed % 7 != 0, picksRandom: seed % 5 == 0, isEndless: seed % 4 == 1,
      grows: seed % 4 == 2)
  }

  @Test(arguments: Thoroughness.rounds(400)) func whateverHappensNothingIsLostAndTheWayBackIsOpen(seed: Int) {
    var world = GalleryWorld(seed: seed, Self.nature(of: seed))
    if seed % 6 == 0 { world.storeInOtherPortions("a") }
    for _ in 0..<250 where world.problem == nil { world.step() }
    if world.problem == nil { world.recover() }
    if let problem = world.problem {
      Issue.record("seed \(seed): \(problem), after … \(world.trail.suffix(40).joined(separator: ", "))")
    }
  }

  @Test(arguments: Thoroughness.rounds(100)) func withoutANetworkScrollingGoesOnWhateverHappened(seed: Int) {
    var world = GalleryWorld(seed: seed, .init())
    for _ in 0..<60 { world.step() }
    world.recover()
    world.makeThumbnails()
    guard !world.content.items.isEmpty else { return }
    world.setOnline(false)
    world.search("never stored \(seed)")
    world.settle()
    for round in 0..<30 {
      let count = world.content.items.count
      world.look(at: count - 1)
      world.settle()
      if world.content.items.count <= count {
        Issue.record("seed \(seed): it ends in round \(round), after … \(world.trail.suffix(20))")
        return
      }
      // Whoever asks for more than that gets no less.
      if round % 7 == 6 { world.refresh() }
    }
    #expect(world.problem == nil && world.content.isOffline)
  }
}
