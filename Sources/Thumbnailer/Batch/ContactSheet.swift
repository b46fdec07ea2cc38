/// A page with the thumbnails of a conversion, their names and sizes, and in red what failed.
///
/// Written piece by piece in the order of the inputs, whatever the order they are done in: what is ahead of its turn waits
/// as text. The thumbnails are named by their paths from the page's own folder, so both can be moved together.
public struct ContactSheet: Sendable {
  private let prefix: [UInt8]
  private var next = 0
  private var waiting: [Int: String] = [:]

  /// A page at `path` about the thumbnails in `outputFolder`.
  public init(path: RawPath, outputFolder: RawPath) {
    prefix = Self.prefix(from: RawPath(bytes: path.folder), to: outputFolder)
  }

  /// What the page begins with.
  public static let head = """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Contact sheet</title>
    <style>
    body { margin: 1rem; font: 14px/1.4 sans-serif; color: #222; background: #eee; }
    main { display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); gap: 12px; }
    figure { margin: 0; padding: 8px; background: #fff; overflow-wrap: anywhere; }
    .box { display: flex; align-items: center; justify-content: center; height: 200px; }
    img { max-width: 100%; max-height: 100%; }
    figcaption span { color: #777; }
    .failed { color: #b00; outline: 2px solid #b00; }
    </style>
    </head>
    <body>
    <main>

    """

  /// Takes a result, and returns what can be appended to the page now: nothing while earlier ones are missing.
  public mutating func add(_ result: ConversionResult) -> String {
    waiting[result.index] = figure(result)
    var text = ""
    while let figure = waiting.removeValue(forKey: next) {
      text += figure
      next += 1
    }
    return text
  }

  /// The rest of the page.
  public mutating func finish(_ summary: ConversionSummary) -> String {
    let rest = waiting.sorted { $0.key < $1.key }.map(\.value).joined()
    waiting = [:]
    return rest + """
      </main>
      <p>\(summary.converted) made, \(summary.current) current, <span\(summary.failed > 0 ? " class=\"failed\"" : "")>\
      \(summary.failed) failed</span>, \(summary.skipped) skipped</p>
      </body>
      </html>

      """
  }

  private func figure(_ result: ConversionResult) -> String {
    let name = Self.escaped(result.source.description)
    switch result.status {
    case .failed:
      let message = Self.escaped(result.failure?.message ?? "")
      return "<figure class=\"failed\"><figcaption>\(name)<br>\(message)</figcaption></figure>\n"
    case .skipped:
      return ""
    case .converted, .current:
      // The first size is shown, the others are named.
      guard let first = result.outputs.first else { return "" }
      let links = result.outputs.map { output in
        let size = output.size.map { "\($0.width)×\($0.height)" } ?? "thumbnail"
        let bytes = output.byteCount.map { ", \(ByteSize(bytes: $0))" } ?? ""
        return "<a href=\"\(address(output))\">\(size)</a><span>\(bytes)</span>"
      }
      return """
        <figure><div class="box"><img loading="lazy" src="\(address(first))" alt="\(name)"></div>\
        <figcaption>\(name)<br>\(links.joined(separator: "<br>"))</figcaption></figure>

        """
    }
  }

  /// A thumbnail's address from the page on, with every byte that means something in an address in digits.
  private func address(_ output: ConversionOutput) -> String {
    var text = ""
    for byte in prefix + output.path.bytes {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E:
        text.unicodeScalars.append(UnicodeScalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        text += (byte < 16 ? "%0" : "%") + digits
      }
    }
    // A first part with a colon would be taken for a scheme; in digits it is not.
    return text
  }

  /// The way from one folder to another, empty or with a slash at its end. Absolute where the two have nothing in common.
  private static func prefix(from page: RawPath, to folder: RawPath) -> [UInt8] {
    let base = page.bytes.isEmpty ? RawPath(".") : page
    guard let from = base.resolved, let to = folder.resolvedWhereThere else { return folder.bytes + [RawPath.slash] }
    let (source, target) = (from.bytes.split(separator: RawPath.slash), to.bytes.split(separator: RawPath.slash))
    let common = zip(source, target).prefix { $0.elementsEqual($1) }.count
    let up = Array("../".utf8)
    return (0..<(source.count - common)).flatMap { _ in up }
      + target[common...].flatMap { Array($0) + [RawPath.slash] }
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\0"..<" ": escaped += " "
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
