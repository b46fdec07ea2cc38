@testable import JPEGCoefficients
import Testing

/// How much lanes decode at a time.
@Suite struct LaneScheduleTests {
  private let sizes = LaneSchedule.Sizes()

  @Test func partsBecomeLongerWhileTheyMeet() throws {
    var schedule = LaneSchedule(sizes)
    var lengths: [Int] = []
    for _ in 0..<4 {
      let parts = try #require(schedule.parts(of: 1 << 17))
      lengths.append(parts.length)
      schedule.met(bits: 8 * parts.length * parts.count, blocks: parts.length * parts.count / 6)
    }
    #expect(lengths == [1 << 10, 1 << 12, 1 << 14, 1 << 14])
  }

  @Test func partsOfShortBlocksFitTheirLists() throws {
    var schedule = LaneSchedule(sizes)
    for _ in 0..<4 { schedule.met(bits: 30_000, blocks: 10_000) }
    let parts = try #require(schedule.parts(of: 1 << 17))
    #expect(parts.length * 8 / 3 <= sizes.room)
    #expect(parts.length >= sizes.shortestPart)
  }

  @Test func lanesRestWhenPartsDoNotMeet() {
    var schedule = LaneSchedule(sizes)
    for rest in [1, 2, 4, 8, 16, 16] {
      schedule.failed()
      for _ in 0..<rest {
        #expect(!schedule.isOn)
        #expect(schedule.parts(of: 1 << 17) == nil)
        schedule.bufferLoaded()
      }
      #expect(schedule.isOn)
    }
  }

  @Test func tooLittleDataHasNoParts() {
    let schedule = LaneSchedule(sizes)
    #expect(schedule.parts(of: 4 * sizes.shortestPart - 1) == nil)
    #expect(schedule.parts(of: 4 * sizes.shortestPart)?.count == 4)
  }
}
