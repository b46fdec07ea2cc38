import TestSupport
import ThumbnailCore

@testable import ThumbnailWorker

/// Shards in the order of the lines, whatever order they come in.
@Suite(.timeLimit(.minutes(5))) struct ShardWriterTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func turn(_ number: Int, _ key: String? = nil, fails: Bool = false) -> ShardWriter.Turn {
    let name = key ?? "k\(number)"
    let line = ParsedLine(number: number, key: name, content: .failure(.blank))
    return ShardWriter.Turn(
      response: LineResponse(to: line, .ok([])),
      files: fails ? [] : [SampleFiles.File(name: "\(name).jpg", data: Data(repeating: UInt8(number), count: 700))],
      held: nil)
  }

  /// Writes the turns, and returns the responses and what came of the shards.
  private func write(
    _ turns: [ShardWriter.Turn], size: Int = 4, to name: String = "a"
  ) async throws -> (responses: [LineResponse], shards: [ShardWriter.Report]) {
    let path = RawPath(folder.url.appendingPathComponent(name).path)
    try NewFile.makeFolders(path)
    let (responses, shards) = (Recorder<LineResponse>(), Recorder<ShardWriter.Report>())
    let writer = ShardWriter(
      folder: try RootFolder(path), shardSize: size,
      onResponse: { response, _ in responses.append(response) },
      onShard: { shards.append($0) })
    for turn in turns { writer.take(turn) }
    await writer.finish()
    return (responses.values, shards.values)
  }

  private func bytes(_ path: String) throws -> Data { try Data(contentsOf: folder.url.appendingPathComponent(path)) }

  @Test func theBytesDoNotDependOnTheOrderInWhichLinesAreDone() async throws {
    let turns = (1...10).map { turn($0, fails: $0 == 3) }
    let first = try await write(turns)
    #expect(first.responses.map(\.number) == Array(1...10))
    #expect(first.shards.map(\.name) == ["00000.tar", "00001.tar", "00002.tar"])
    #expect(first.shards.map(\.lines) == [4, 4, 2] && first.shards.map(\.samples) == [3, 4, 2])
    #expect(first.shards.map(\.firstLine) == [1, 5, 9])
    for (number, order) in [turns.reversed(), turns.shuffled(), turns.shuffled()].enumerated() {
      let next = try await write(order, to: "b\(number)")
      #expect(next.responses.map(\.number) == Array(1...10))
      for shard in first.shards { #expect(try bytes("a/\(shard.name)") == bytes("b\(number)/\(shard.name)")) }
    }
  }

  @Test func aShardSaysItsLengthAndItsDigest() async throws {
    let shard = try #require(try await write([turn(1)]).shards.first)
    let (length, digest) = try shard.result.get()
    let data = try bytes("a/00000.tar")
    #expect(data.count == length && SHA256.hash(data).hexadecimal == digest)
  }

  @Test func aKeyThatComesTwiceInAShardFailsTheSecondTime() async throws {
    let result = try await write([turn(1, "x"), turn(2, "x"), turn(3), turn(4), turn(5, "x")])
    let codes = result.responses.map { response -> String? in
      if case .failed(let failure) = response.outcome { failure.code } else { nil }
    }
    #expect(codes == [nil, "duplicate-key", nil, nil, nil])
  }

  @Test func keysOfOtherBytesAreOthers() async throws {
    let result = try await write([turn(1, "\u{e9}"), turn(2, "e\u{301}")])
    #expect(result.shards.map(\.samples) == [2])
  }

  @Test func aShardWithoutASampleIsAnEmptyArchive() async throws {
    let result = try await write((1...4).map { turn($0, fails: true) })
    #expect(result.shards.map(\.samples) == [0])
    #expect(try bytes("a/00000.tar") == Data(TarHeader.end))
  }

  @Test func withoutAFolderEachLineFailsAndSoDoesTheShard() async throws {
    let path = folder.url.appendingPathComponent("gone")
    try NewFile.makeFolders(RawPath(path.path))
    let (responses, shards) = (Recorder<LineResponse>(), Recorder<ShardWriter.Report>())
    let writer = ShardWriter(
      folder: try RootFolder(RawPath(path.path)), shardSize: 2,
      onResponse: { response, _ in responses.append(response) },
      onShard: { shards.append($0) })
    try FileManager.default.removeItem(at: path)
    for number in 1...2 { writer.take(turn(number)) }
    await writer.finish()
    #expect(responses.values.count == 2 && shards.values.map(\.samples) == [0])
    for response in responses.values {
      guard case .failed(let failure) = response.outcome else {
        Issue.record("line \(response.number) did not fail")
        continue
      }
      #expect(failure.code == "cannot-write" && failure.message.contains("gone/00000.tar"))
    }
    #expect(throws: SystemFailure.self) { try shards.values.first?.result.get() }
  }
}
