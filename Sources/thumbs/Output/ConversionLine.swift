import FolderConversion
import ThumbnailCore
import Thumbnailer

/// The result of one input as a line of `--json`.
struct ConversionLine {
  private let result: ConversionResult
  private let outputFolder: RawPath

  init(_ result: ConversionResult, outputFolder: RawPath) {
    (self.result, self.outputFolder) = (result, outputFolder)
  }

  /// The line of `--json`.
  var json: JSONObject {
    [
      "source": result.source.description,
      "status": result.status.rawValue,
      "damaged": result.isDamaged.unlessFalse,
      "outputs": result.outputs.map(json),
      "toldApart": result.isToldApart.unlessFalse,
      "error": result.failure.map {
        ["stage": $0.stage.rawValue, "code": $0.code, "message": $0.message] as JSONObject
      },
      "plan": result.plan,
      "preview": result.preview?.rawValue,
      "ms": milliseconds,
    ]
  }

  /// The line of `--json` about thumbnails that were removed, or would be.
  static func removal(_ orphan: ConversionOrphan, from folder: RawPath, isDryRun: Bool) -> JSONObject {
    [
      "source": orphan.source.description, "status": isDryRun ? "wouldRemove" : "removed",
      "outputs": orphan.outputs.map { ["path": folder.appending($0.bytes).description] as JSONObject },
    ]
  }

  private func json(_ output: ConversionOutput) -> JSONObject {
    [
      "path": path(output.path), "width": output.size?.width, "height": output.size?.height,
      "format": output.format?.rawValue, "bytes": output.byteCount, "damaged": output.isDamaged.unlessFalse,
    ]
  }

  /// The message about the thumbnails' names if they have the input's extension to avoid a collision with another input;
  /// nil otherwise.
  var names: String? {
    if !result.isToldApart { return nil }
    let names = result.outputs.map { path($0.path) }.joined(separator: ", ")
    return "\(result.source): writes \(names), because another picture has the same name"
  }

  private func path(_ relative: RawPath) -> String {
    let folder = outputFolder.description
    return (folder.hasSuffix("/") ? folder : folder + "/") + relative.description
  }

  private var milliseconds: Double { result.duration.milliseconds.rounded(toPlaces: 3) }
}

extension ConversionSummary {
  /// The last line of `--json`.
  ///
  /// - Parameter isDryRun: Whether to count what would have been written.
  func json(isDryRun: Bool) -> JSONObject {
    [
      "converted": converted, "wouldConvert": isDryRun ? planned : nil, "current": current,
      "failed": failed, "skipped": skipped,
      "skips": skips.isEmpty ? nil : skips.byCount.reduce(into: [:] as JSONObject) { $0.add($1.key, $1.value) },
      "videos": videos.unlessZero, "paired": paired.unlessZero, "toldApart": toldApart.unlessZero,
      "removed": removed.unlessZero, "unremoved": (unremoved + kept.count).unlessZero, "damaged": damaged.unlessZero,
      "seconds": duration.seconds.rounded(toPlaces: 3), "peakMemoryBytes": ProcessMemory.peak,
    ]
  }

  /// The number of images, whatever their outcome.
  var pictures: Int { converted + planned + current + failed + skipped }

  /// Why inputs were skipped: `3 films, 2 links: follow them with --follow-symlinks`.
  private var reasons: String {
    skips.byCount.map { code, count in
      switch code {
      case "video": count.of("film")
      case "paired": "\(count) beside \(count == 1 ? "its JPEG" : "their JPEGs")"
      case "link": "\(count.of("link")) not followed, see --follow-symlinks"
      case "not-named-like-a-picture": "\(count) not named like \(count == 1 ? "a picture" : "pictures")"
      case "not-a-file": "\(count) neither file nor folder"
      case "own-output": "\(count) in the output folder"
      case "loop": "\(count.of("link")) to folders listed already"
      default: "\(count) \(code.replacing("-", with: " "))"
      }
    }.joined(separator: ", ")
  }

  /// The last line without `--json`.
  func text(isDryRun: Bool) -> String {
    let made = isDryRun ? "\(planned) would be made" : "\(converted) made"
    var counts = [made, "\(current) current", "\(failed) failed"]
    if skipped > 0 { counts.append("\(skipped) skipped (\(reasons))") }
    if toldApart > 0 { counts.append("\(toldApart) \(toldApart == 1 ? "keeps its" : "keep their") extension") }
    if removed > 0 { counts.append("\(removed) removed") }
    if damaged > 0 { counts.append("\(damaged) damaged") }
    return counts.joined(separator: ", ")
      + "; \(duration.seconds.rounded(toPlaces: 2)) s, peak memory \(ByteSize(bytes: ProcessMemory.peak))"
  }
}
