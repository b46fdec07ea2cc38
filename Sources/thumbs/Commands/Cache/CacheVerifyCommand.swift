import ArgumentParser
import ThumbnailCache
import ThumbnailCore
import Thumbnailer

/// `thumbs cache verify`.
struct CacheVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Reads the whole disk cache and removes damaged thumbnails.",
    discussion: """
      Example:
        thumbs cache verify --json

      Others may use the cache meanwhile. Exit status 1: something was damaged; it
      is repaired now, and removed thumbnails are made again on request. A cache
      that cannot be written is only checked.

      --json prints directory, thumbnails, bytes, damaged, strays, wrongTotals,
      structure, ok.
      """)

  @OptionGroup var cache: CacheOptions
  @OptionGroup var form: JSONOption

  func run() async throws {
    let disk = try cache.open()
    if let restriction = disk?.restriction { Console.standard.complain("\(restriction) or repaired") }
    let checked = try await disk?.change { disk throws(DiskCacheError) in try await disk.verify() }
    let result = checked ?? CacheVerification()
    try Console.standard.print(form.json ? object(result).line : text(result, isReadOnly: disk?.restriction != nil))
    if !result.isSound { throw ExitCode.someFailed }
  }

  private func object(_ result: CacheVerification) -> JSONObject {
    [
      "directory": cache.directory.path, "thumbnails": result.thumbnails, "bytes": result.bytes,
      "damaged": result.damaged, "strays": result.strays, "wrongTotals": result.hadWrongTotals,
      "structure": result.structure, "ok": result.isSound,
    ]
  }

  private func text(_ result: CacheVerification, isReadOnly: Bool) -> String {
    let verb = isReadOnly ? "found" : "repaired"
    var lines = [
      "\(result.thumbnails) thumbnails, \(ByteSize(bytes: result.bytes)), checked in \(cache.directory.path)"
    ]
    lines += result.structure.map { "the file's structure was damaged: \(PlainText.line($0))" }
    if result.damaged > 0 { lines.append("\(isReadOnly ? "found" : "dropped") \(result.damaged) damaged thumbnails") }
    if result.strays > 0 { lines.append("\(verb) \(result.strays) rows that belonged to nothing or were missing") }
    if result.hadWrongTotals { lines.append("\(verb) totals that were wrong") }
    if result.isSound { lines.append("all is well") }
    return lines.joined(separator: "\n")
  }
}
