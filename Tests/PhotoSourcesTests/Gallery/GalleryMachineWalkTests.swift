@testable import PhotoSources
import TestSupport

/// Whatever happens in whatever order, what must always hold does.
@Suite struct GalleryMachineWalkTests {
  private static let events = 15

  /// Does one of the things that can happen; some of them only when there is something to answer.
  private static func step(_ number: Int, _ driver: inout GalleryMachineDriver) {
    let count = driver.asked.count
    switch number {
    case 0: driver.search("a")
    case 1: driver.search("")
    case 2: driver.send(.refresh)
    case 3: driver.send(.retry)
    case 4: driver.send(.next)
    case 5: driver.show(driver.ids.count - 1)
    case 6: driver.send(.shown(false))
    case 7: driver.send(.shown(true))
    case 8: if let item = driver.machine.content.items.first { driver.send(.delete(item.id)) }
    case 9: if driver.live != nil { driver.answer(count..<count + 2, next: "\(count)") }
    case 10: if driver.live != nil { driver.answer([1]) }
    case 11: if driver.live != nil { driver.lose() }
    case 12: if driver.live != nil { driver.fail(.unauthorized(provider: "test")) }
    case 13:
      switch driver.stored {
      case .stored: driver.answerStored(count..<count + 2, next: "\(count)")
      case .cached: driver.answerCached([1, 2, count])
      case .page, .random, nil: driver.now += .seconds(1)
      }
    default:
      switch driver.stored {
      case .stored: driver.missStored()
      case .cached: driver.answerCached([])
      case .page, .random, nil: driver.now += .seconds(60)
      }
    }
  }

  @Test(arguments: [true, false], [true, false])
  func everyWayOfFourStepsFromASearch(hasStore: Bool, loadsWhileHidden: Bool) {
    var start = GalleryMachineDriver {
      $0.hasStore = hasStore
      $0.loadsWhileHidden = loadsWhileHidden
      $0.pageSize = 2
    }
    start.search("a")
    func walk(_ driver: GalleryMachineDriver, _ path: [Int]) {
      if path.count == 4 { return }
      for event in 0..<Self.events {
        var next = driver
        Self.step(event, &next)
        if let problem = next.machine.contradiction(asked: next.running.values) {
          Issue.record("\(problem) after \(path + [event])")
        }
        walk(next, path + [event])
      }
    }
    walk(start, [])
  }

}
