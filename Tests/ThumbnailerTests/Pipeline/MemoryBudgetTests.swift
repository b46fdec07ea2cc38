@testable import Thumbnailer

@Suite struct MemoryBudgetTests {
  private let root: TemporaryDirectory

  init() throws { root = try TemporaryDirectory() }

  private func write(_ text: String, to path: String) throws {
    let file = root.url.appendingPathComponent(path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  private var path: String { root.url.path + "/" }
  private var limit: Int? { Cgroup.memoryLimit(root: path) }
  private func budget(memoryCache: Int = 0) -> Int { MemoryBudget.defaultTotal(memoryCache: memoryCache, root: path) }

  @Test func theLeastLimitOnTheWayToTheRootCounts() throws {
    try write("0::/user/app\n", to: "proc/self/cgroup")
    try write("max\n", to: "sys/fs/cgroup/user/app/memory.max")
    try write("268435456\n", to: "sys/fs/cgroup/user/memory.max")
    #expect(limit == 256 << 20)
  }

  @Test func versionOneIsReadToo() throws {
    try write("4:memory,hugetlb:/docker/abc\n3:cpu:/\n", to: "proc/self/cgroup")
    try write("9223372036854771712\n", to: "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes")
    try write("104857600\n", to: "sys/fs/cgroup/memory/memory.limit_in_bytes")
    #expect(limit == 100 << 20)
  }

  @Test func withoutALimitTheStandardHolds() throws {
    try write("0::/\n", to: "proc/self/cgroup")
    #expect(limit == nil && budget() == MemoryBudget.standard)
    #expect(MemoryBudget.defaultTotal(memoryCache: 0, root: path + "nowhere/") == MemoryBudget.standard)
    #expect(MemoryBudget.defaultMemoryCache(root: path) == 64 << 20)
    #expect(MachineMemory.available(root: path) == nil)
  }

  @Test func theBudgetIsTheLimitLessTheProgramAndItsMemoryCache() throws {
    try write("0::/\n", to: "proc/self/cgroup")
    try write("134217728\n", to: "sys/fs/cgroup/memory.max")
    #expect(budget() == 96 << 20)
    #expect(MemoryBudget.defaultMemoryCache(root: path) == 16 << 20)
    #expect(budget(memoryCache: 16 << 20) == 80 << 20)
  }

  @Test func aSmallMachineLimitsItToo() throws {
    try write("MemTotal:         262144 kB\nMemFree: 1 kB\nMemAvailable:     131072 kB\n", to: "proc/meminfo")
    #expect(budget() == 224 << 20)
    #expect(MachineMemory.available(root: path) == 128 << 20)
    try write("0::/\n", to: "proc/self/cgroup")
    try write("134217728\n", to: "sys/fs/cgroup/memory.max")
    #expect(MachineMemory.limit(root: path) == 128 << 20)
  }

  @Test func aTinyCgroupStillLeavesTheMinimum() throws {
    try write("0::/\n", to: "proc/self/cgroup")
    try write("1048576\n", to: "sys/fs/cgroup/memory.max")
    #expect(budget() == MemoryBudget.minimum)
  }

  @Test func whatFilesHoldOfACgroupIsFree() throws {
    try write("0::/app\n", to: "proc/self/cgroup")
    try write("104857600\n", to: "sys/fs/cgroup/app/memory.max")
    try write("62914560\n", to: "sys/fs/cgroup/app/memory.current")
    try write(
      "anon 20971520\nfile 41943040\nshmem 10485760\ninactive_file 20971520\nactive_file 10485760\n",
      to: "sys/fs/cgroup/app/memory.stat")
    #expect(MachineMemory.available(root: path) == 70 << 20)
    // The group above has less.
    try write("209715200\n", to: "sys/fs/cgroup/memory.max")
    try write("188743680\n", to: "sys/fs/cgroup/memory.current")
    #expect(MachineMemory.available(root: path) == 20 << 20)
  }

  @Test func versionOneTellsWhatIsFreeToo() throws {
    try write("4:memory:/docker/abc\n", to: "proc/self/cgroup")
    try write("104857600\n", to: "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes")
    try write("62914560\n", to: "sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes")
    try write(
      "inactive_file 1\nactive_file 1\ntotal_inactive_file 20971520\ntotal_active_file 10485760\n",
      to: "sys/fs/cgroup/memory/docker/abc/memory.stat")
    #expect(MachineMemory.available(root: path) == 70 << 20)
  }

  @Test func bodiesNeverTakeMoreThanAQuarter() {
    let budget = MemoryBudget(total: 16 << 20, downloads: 64, jobs: 8)
    #expect(budget.bodyShare == 4 << 20)
    #expect(budget.decodeShare == 12 << 20)
    let roomy = MemoryBudget(total: 512 << 20, downloads: 16, jobs: 2)
    #expect(roomy.bodyShare == 20 * (256 << 10))
  }
}
