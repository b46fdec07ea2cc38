@testable import HTTPTransport
@testable import Thumbnailer

@Suite struct InFlightWindowTests {
  @Test func aSilentOneIsNotCountedOnceALaterOneIsDone() {
    var window = InFlightWindow(capacity: 2)
    for number in 1...2 { window.begin(number) }
    #expect(!window.hasRoom)
    window.setSilence(1, .silent)
    #expect(!window.hasRoom)
    window.end(2)
    window.begin(3)
    #expect(window.count == 2 && window.uncounted == 1 && window.hasRoom)
    // It goes on, and counts again.
    window.setSilence(1, .responding)
    #expect(!window.hasRoom)
  }

  @Test func aServerThatAnswersNobodyHoldsEverythingBackUntilItsPicturesArePutOff() {
    var window = InFlightWindow(capacity: 3)
    for number in 1...3 {
      window.begin(number)
      window.setSilence(number, .silent)
    }
    #expect(!window.hasRoom)
    window.setSilence(3, .deferred)
    #expect(window.uncounted == 1 && window.hasRoom)
  }

  @Test func whatIsDoneIsForgottenWhateverIsHeardOfItLater() {
    var window = InFlightWindow(capacity: 1)
    window.begin(1)
    window.setSilence(1, .deferred)
    window.end(1)
    window.setSilence(1, .deferred)
    #expect(window.count == 0 && window.uncounted == 0)
  }

  @Test func thereIsALimitToWhatWaitsInVain() {
    var window = InFlightWindow(capacity: 4)
    var number = 0
    while window.hasRoom {
      number += 1
      window.begin(number)
      window.setSilence(number, .deferred)
    }
    #expect(window.count == 4 + InFlightWindow.mostUncounted)
  }
}
