import Foundation
import Testing

@testable import Thumbnailer

@Suite struct MemoryBudgetTests {
  private let root: TemporaryDirectory

  init() throws { root = try TemporaryDirectory() }

  private func write(_ text: String, to path: String) throws {
    let file = root.url.appendingPathComponent(path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  private var limit: Int? { Cgroup.memoryLimit(root: root.url.path + "/") }

  @Test func theLeastLimitOnTheWayToTheRootCounts() throws {
    try write("0::/user/app\n", to: "proc/self/cgroup")
    try write("max\n", to: "sys/fs/cgroup/user/app/memory.max")
    try write("268435456\n", to: "sys/fs/cgroup/user/memory.max")
    #expect(limit == 256 << 20)
    #expect(MemoryBudget.defaultTotal(root: root.url.path + "/") == 128 << 20)
  }

  @Test func versionOneIsReadToo() throws {
    try write("4:memory,hugetlb:/docker/abc\n3:cpu:/\n", to: "proc/self/cgroup")
    try write("9223372036854771712\n", to: "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes")
    try write("104857600\n", to: "sys/fs/cgroup/memory/memory.limit_in_bytes")
    #expect(limit == 100 << 20)
  }

  @Test func withoutALimitTheStandardHolds() throws {
    try write("0::/\n", to: "proc/self/cgroup")
    #expect(limit == nil)
    #expect(MemoryBudget.defaultTotal(root: root.url.path + "/") == MemoryBudget.standard)
    #expect(MemoryBudget.defaultTotal(root: root.url.path + "/nowhere/") == MemoryBudget.standard)
  }

  @Test func aTinyCgroupStillLeavesTheMinimum() throws {
    try write("0::/\n", to: "proc/self/cgroup")
    try write("1048576\n", to: "sys/fs/cgroup/memory.max")
    #expect(MemoryBudget.defaultTotal(root: root.url.path + "/") == MemoryBudget.minimum)
  }

  @Test func bodiesNeverTakeMoreThanAQuarter() {
    let budget = MemoryBudget(total: 16 << 20, downloads: 64, jobs: 8)
    #expect(budget.bodyShare == 4 << 20)
    #expect(budget.decodeShare == 12 << 20)
    let roomy = MemoryBudget(total: 512 << 20, downloads: 16, jobs: 2)
    #expect(roomy.bodyShare == 20 * (256 << 10))
  }
}
