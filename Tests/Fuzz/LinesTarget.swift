import Foundation
import ThumbnailCore

@testable import ThumbnailWorker

/// Lines for a worker: they are the same in any pieces, what is accepted is JSON, and names stay below their folder.
func fuzzLines(_ input: FuzzInput) {
  let limit = 1024
  let whole = split([input.bytes[...]], limit: limit)
  let pieces = stride(from: 0, to: input.bytes.count, by: 7).map { input.bytes[$0..<min($0 + 7, input.bytes.count)] }
  require(split(pieces, limit: limit) == whole, "the lines differ in pieces of seven bytes")
  for writesShards in [false, true] {
    let parser = LineParser(
      variants: [Variant(size: PixelSize(256, 256))], gravity: .centre, allowsPaths: true,
      writesShards: writesShards)
    for case .text(let bytes, let number) in whole { check(parser.parse(bytes, number: number), bytes) }
  }
}

private func split(_ pieces: [ArraySlice<UInt8>], limit: Int) -> [LineSplitter.Line] {
  var splitter = LineSplitter(limit: limit)
  var lines: [LineSplitter.Line] = []
  for piece in pieces { piece.withUnsafeBufferPointer { splitter.take($0) { lines.append($0) } } }
  if let last = splitter.finish() { lines.append(last) }
  return lines
}

private func check(_ line: ParsedLine, _ bytes: [UInt8]) {
  if let id = line.id {
    let parsed = try? JSONSerialization.jsonObject(with: Data(id), options: .fragmentsAllowed)
    // Foundation's parser refuses numbers that are too large for it, and halves of surrogate pairs, which JSON allows.
    let isNumber = id.allSatisfy { "-+.eE0123456789".utf8.contains($0) }
    let hasEscapes = id.firstRange(of: Array("\\u".utf8)) != nil
    require(parsed != nil || isNumber || hasEscapes, "an id that is no JSON: \(String(decoding: id, as: UTF8.self))")
  }
  guard case .success(let item) = line.content else { return }
  let names = item.key.text.split(separator: "/", omittingEmptySubsequences: false)
  require(item.key.text.utf8.count <= 200, "a key of \(item.key.text.utf8.count) bytes")
  require(names.allSatisfy { !["", ".", ".."].contains($0) }, "the key \(item.key.text)")
  require((1...LineParser.mostSizes).contains(item.variants.count), "\(item.variants.count) sizes")
  for variant in item.variants {
    require(variant.size.width > 0 && variant.size.height > 0, "a box of \(variant.size)")
    require((1...100).contains(variant.quality), "a quality of \(variant.quality)")
  }
}
