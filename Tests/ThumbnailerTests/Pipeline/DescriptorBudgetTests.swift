@testable import Thumbnailer

@Suite struct DescriptorBudgetTests {
  private var wanted: ThumbnailPipeline.Configuration {
    var wanted = ThumbnailPipeline.Configuration()
    (wanted.jobs, wanted.downloads) = (4, 16)
    return wanted
  }

  @Test(arguments: [30, 31, 32, 48, 64, 100, 128, 200, 256]) func whatIsOpenAtOnceFitsIntoTheLimit(limit: Int) throws {
    let budget = try DescriptorBudget(limit: limit, open: 4, wanted)
    let lent = budget.downloads < 6 ? 0 : 64
    let used = 4 + 18 + 4 * budget.downloads + 4 * budget.jobs + lent
    #expect(used <= limit && budget.jobs >= 1 && budget.downloads >= 1 && budget.openFiles >= 1)
    #expect(used + budget.openFiles <= max(limit, used + 1))
  }

  @Test func aUsualLimitChangesNothing() throws {
    let budget = try DescriptorBudget(limit: 1024, open: 100, wanted)
    #expect(budget.jobs == 4 && budget.downloads == 16 && budget.openFiles == 64)
  }

  @Test func aHigherLimitNeverMeansLess() throws {
    var former = try DescriptorBudget(limit: 30, open: 4, wanted)
    for limit in 31...1024 {
      let budget = try DescriptorBudget(limit: limit, open: 4, wanted)
      #expect(budget.jobs >= former.jobs && budget.downloads >= former.downloads, "\(limit)")
      former = budget
    }
  }

  @Test func tooLowALimitIsSaidWithTheLeastThatWorks() throws {
    #expect(
      throws: ThumbnailError.invalidRequest(
        reason: "the process may open 29 files and sockets, and needs 30: raise the limit (ulimit -n)")
    ) { try DescriptorBudget(limit: 29, open: 4, wanted) }
    // Without a disk cache, as in a conversion, less is needed.
    var uncached = wanted
    uncached.diskCacheLimit = ByteSize(bytes: 0)
    _ = try DescriptorBudget(limit: 23, open: 4, uncached)
  }
}
