import Testing

@testable import Thumbnailer

/// Events on their way to those who listen.
@Suite(.timeLimit(.minutes(5))) struct EventHubTests {
  @Test func everyListenerGetsWhatHappensFromThenOn() async {
    let hub = EventHub<Int>()
    hub.send(0)
    let first = hub.subscribe(bufferingNewest: 10)
    hub.send(1)
    let second = hub.subscribe(bufferingNewest: 10)
    hub.send(2)
    hub.finish()
    #expect(await first.reduce(into: []) { $0.append($1) } == [1, 2])
    #expect(await second.reduce(into: []) { $0.append($1) } == [2])
  }

  @Test func aListenerGetsWhatItWantsAlone() async {
    let hub = EventHub<Int>()
    let all = hub.subscribe(bufferingNewest: 10)
    let even = hub.subscribe(bufferingNewest: 1) { $0.isMultiple(of: 2) }
    for number in 1...3 { hub.send(number) }
    hub.finish()
    #expect(await all.reduce(into: []) { $0.append($1) } == [1, 2, 3])
    #expect(await even.reduce(into: []) { $0.append($1) } == [2])
  }

  @Test func aListenerThatComesAfterTheEndEnds() async {
    let hub = EventHub<Int>()
    let early = hub.subscribe(bufferingNewest: 10)
    hub.finish()
    let late = hub.subscribe(bufferingNewest: 10)
    hub.send(1)
    for await event in late { Issue.record("\(event) came after the end") }
    for await event in early { Issue.record("\(event) came after the end") }
  }
}
