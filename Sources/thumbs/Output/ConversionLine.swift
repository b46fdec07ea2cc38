import FolderConversion
import Thumbnailer

/// The result of one input as a line of `--json` or of a report.
struct ConversionLine {
  private let result: ConversionResult
  private let outputFolder: RawPath

  init(_ result: ConversionResult, outputFolder: RawPath) {
    (self.result, self.outputFolder) = (result, outputFolder)
  }

  /// The header line of the CSV.
  static let csvHeader = "source,status,path,width,height,format,bytes,stage,code,message,plan,ms,damaged"

  /// The line of `--json`.
  var json: String {
    var object = JSONObject()
    object.add("source", result.source.description)
    object.add("status", result.status.rawValue)
    if result.isDamaged { object.add("damaged", true) }
    object.add("outputs", result.outputs.map(json))
    if result.isToldApart { object.add("toldApart", true) }
    if !result.replaced.isEmpty { object.add("replaced", result.replaced.map(path)) }
    if let failure = result.failure {
      var member = JSONObject()
      member.add("stage", failure.stage.rawValue)
      member.add("code", failure.code)
      member.add("message", failure.message)
      object.add("error", member)
    }
    if let plan = result.plan { object.add("plan", plan) }
    object.add("ms", milliseconds)
    return object.line
  }

  private func json(_ output: ConversionOutput) -> JSONObject {
    var object = JSONObject()
    object.add("path", path(output.path))
    if let size = output.size {
      object.add("width", size.width)
      object.add("height", size.height)
    }
    if let format = output.format { object.add("format", format.rawValue) }
    if let bytes = output.byteCount { object.add("bytes", bytes) }
    if output.isDamaged { object.add("damaged", true) }
    return object
  }

  /// The lines of the CSV: one for each thumbnail, or one for an input without any.
  var csv: String {
    let outputs = result.outputs.map(Optional.some)
    return (outputs.isEmpty ? [nil] : outputs).map { output in
      var fields = [result.source.description, result.status.rawValue]
      fields += [
        output.map { path($0.path) }, output?.size.map { "\($0.width)" }, output?.size.map { "\($0.height)" },
        output?.format?.rawValue, output?.byteCount.map { "\($0)" }, result.failure?.stage.rawValue,
        result.failure?.code, result.failure?.message, result.plan, "\(milliseconds)",
        output?.isDamaged == true ? "damaged" : nil,
      ].map { $0 ?? "" }
      return fields.map(Self.quoted).joined(separator: ",")
    }.joined(separator: "\n")
  }

  /// The message about the thumbnails' names if they are, or no longer are, changed to avoid a collision with other
  /// inputs; nil if there is nothing to report.
  var names: String? {
    let names = result.outputs.map { path($0.path) }.joined(separator: ", ")
    let earlier = result.replaced.isEmpty ? "" : ", in place of " + result.replaced.map(path).joined(separator: ", ")
    if names.isEmpty || !result.isToldApart && earlier.isEmpty { return nil }
    let reason =
      result.isToldApart ? "told apart from others of its name" : "no longer told apart from others of its name"
    return "\(result.source): \(reason): \(names)\(earlier)"
  }

  private func path(_ relative: RawPath) -> String {
    let folder = outputFolder.description
    return (folder.hasSuffix("/") ? folder : folder + "/") + relative.description
  }

  private var milliseconds: Double { result.duration.milliseconds.rounded(toPlaces: 3) }

  private static func quoted(_ field: String) -> String {
    let needsQuotes = field.unicodeScalars.contains { "\",\n\r".unicodeScalars.contains($0) }
    return needsQuotes ? "\"\(field.replacing("\"", with: "\"\""))\"" : field
  }
}

extension ConversionSummary {
  /// The last line of `--json`.
  ///
  /// - Parameter isDryRun: Whether to count what would have been written.
  func json(isDryRun: Bool = false) -> String {
    var figures = JSONObject()
    figures.add("converted", converted)
    if isDryRun { figures.add("wouldConvert", planned) }
    figures.add("current", current)
    figures.add("failed", failed)
    figures.add("skipped", skipped)
    if toldApart > 0 { figures.add("toldApart", toldApart) }
    if replaced > 0 { figures.add("replaced", replaced) }
    if removed > 0 { figures.add("removed", removed) }
    if damaged > 0 { figures.add("damaged", damaged) }
    figures.add("seconds", duration.seconds.rounded(toPlaces: 3))
    figures.add("peakMemoryBytes", ProcessMemory.peak)
    var object = JSONObject()
    object.add("summary", figures)
    return object.line
  }

  /// The number of images, whatever their outcome.
  var pictures: Int { converted + planned + current + failed + skipped }

  /// The last line without `--json`.
  func text(isDryRun: Bool = false) -> String {
    let made = isDryRun ? "\(planned) would be made" : "\(converted) made"
    var counts = [made, "\(current) current", "\(failed) failed"]
    if skipped > 0 { counts.append("\(skipped) skipped") }
    if toldApart > 0 { counts.append("\(toldApart) told apart") }
    if replaced > 0 { counts.append("\(replaced) \(isDryRun ? "would be replaced" : "replaced")") }
    if removed > 0 { counts.append("\(removed) removed") }
    if damaged > 0 { counts.append("\(damaged) damaged") }
    return counts.joined(separator: ", ")
      + "; \(duration.seconds.rounded(toPlaces: 2)) s, peak memory \(ByteSize(bytes: ProcessMemory.peak))"
  }
}
