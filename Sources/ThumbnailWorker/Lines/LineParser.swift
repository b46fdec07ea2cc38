import Foundation
import HTTPSemantics
import ThumbnailCore

/// Reads lines: a URL, or a JSON object.
struct LineParser: Sendable {
  /// The most sizes of a line.
  static let mostSizes = 32

  /// The variants for lines that do not state their own. Not empty.
  let variants: [Variant]
  /// The gravity if only the line requests `cover`.
  let gravity: Gravity
  /// The number that the key of the first line has.
  let allowsPaths: Bool
  /// Whether keys are for shards.
  let writesShards: Bool

  func parse(_ bytes: [UInt8], number: Int) -> ParsedLine {
    let text = bytes.drop { $0 == 0x20 || $0 == 0x09 }
    guard let first = text.first, first != UInt8(ascii: "#") else {
      return ParsedLine(number: number, content: .failure(.blank))
    }
    guard bytes.allSatisfy({ $0 < 0x80 }) || String(validating: bytes, as: UTF8.self) != nil else {
      return ParsedLine(number: number, content: .failure(.invalidLine("it is not UTF-8")))
    }
    return first == UInt8(ascii: "{") ? parse(object: bytes, number: number) : parse(url: text, number: number)
  }

  // MARK: A URL

  private func parse(url bytes: ArraySlice<UInt8>, number: Int) -> ParsedLine {
    let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    guard text.contains("://"), !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
      let reason = text.first == "[" ? "it is a list" : "it is neither a URL nor an object"
      return ParsedLine(number: number, content: .failure(.invalidLine(reason)))
    }
    let key = SampleKey(number: number - 1)
    return ParsedLine(
      number: number, key: key.text, address: .url(text),
      content: .success(WorkItem(origin: .url(text, headers: []), variants: variants, key: key)))
  }

  // MARK: An object

  /// The places of the values of an object's members. The last one of a name counts, unless it is null.
  private struct Members {
    private static let known: Set = [
      "id", "url", "path", "base64", "headers", "sizes", "fit", "format", "quality", "key", "caption", "json",
    ]

    let bytes: [UInt8]
    private(set) var ranges: [String: Range<Int>] = [:]

    init(_ bytes: [UInt8]) throws(InvalidValue) {
      self.bytes = bytes
      var scanner = JSONScanner(bytes)
      try scanner.object { (name, rest) throws(InvalidValue) in
        let range = try rest.value()
        let isNull = bytes[range.lowerBound] == UInt8(ascii: "n") && name != "id"
        if Self.known.contains(name) { ranges[name] = isNull ? nil : range }
      }
      try scanner.expectEnd()
    }

    /// Reads a value that begins with a certain byte.
    func read<Value>(
      _ range: Range<Int>, _ name: String, from first: UInt8, _ kind: String,
      _ body: (inout JSONScanner) throws(InvalidValue) -> Value
    ) throws(LineFailure) -> Value {
      guard bytes[range.lowerBound] == first else { throw .invalidRequest("\(name) cannot be used: give \(kind)") }
      var scanner = JSONScanner(bytes, at: range.lowerBound)
      do throws(InvalidValue) {
        return try body(&scanner)
      } catch {
        throw .invalidLine(error.message)
      }
    }

    func text(_ name: String) throws(LineFailure) -> String? {
      guard let range = ranges[name] else { return nil }
      return try text(range, name)
    }

    private func text(_ range: Range<Int>, _ name: String) throws(LineFailure) -> String {
      try read(range, name, from: UInt8(ascii: "\""), "a text") { value throws(InvalidValue) in
        try value.string()
      }
    }

    /// The Base64 text, which is decoded later, on the thread that works on the line.
    func base64() throws(LineFailure) -> [UInt8]? {
      guard let range = ranges["base64"] else { return nil }
      return try read(range, "base64", from: UInt8(ascii: "\""), "a text") { value throws(InvalidValue) in
        var copy = value
        let (characters, hasEscapes) = try value.stringRange()
        return hasEscapes ? Array(try copy.string().utf8) : Array(bytes[characters])
      }
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ name: String) throws(LineFailure) -> Choice? {
      guard let text = try text(name) else { return nil }
      if let choice = Choice(rawValue: name == "format" && text == "jpg" ? "jpeg" : text) { return choice }
      let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw .invalidRequest("\(name) cannot be used: give one of \(choices)")
    }

    func quality() throws(LineFailure) -> Int? {
      guard let range = ranges["quality"] else { return nil }
      let number = Int(String(decoding: bytes[range], as: UTF8.self))
      guard let number, (1...100).contains(number) else {
        throw .invalidRequest("quality cannot be used: give a number from 1 to 100")
      }
      return number
    }

    /// The members of an object, with where their values are; none if it is missing.
    private func members(of name: String, _ kind: String) throws(LineFailure) -> [(name: String, value: Range<Int>)] {
      guard let range = ranges[name] else { return [] }
      return try read(range, name, from: UInt8(ascii: "{"), kind) { value throws(InvalidValue) in
        var members: [(String, Range<Int>)] = []
        try value.object { (name, rest) throws(InvalidValue) in members.append((name, try rest.value())) }
        return members
      }
    }

    func json() throws(LineFailure) -> [(name: String, value: [UInt8])] {
      try members(of: "json", "an object").map { ($0.name, Array(bytes[$0.value])) }
    }

    /// Sorted by name, so that the digest of the source does not depend on their order.
    func headers() throws(LineFailure) -> [HTTPHeader] {
      var headers: [HTTPHeader] = []
      for (name, range) in try members(of: "headers", "an object of texts") {
        let header = HTTPHeader(name, try text(range, "the header \(name)"))
        guard header.isWellFormed else {
          throw .invalidRequest("headers holds a name or value that HTTP does not allow")
        }
        headers.append(header)
      }
      return headers.sorted { $0.name < $1.name }
    }

    /// The sizes, of a list or a single one; none if the member is missing.
    func sizes() throws(LineFailure) -> [TargetSize] {
      guard let range = ranges["sizes"] else { return [] }
      let first = bytes[range.lowerBound]
      // A list may hold a million values: only valid ones are kept, and one too many of these.
      var (sizes, areUsable): ([TargetSize], Bool) = ([], true)
      func add(_ value: inout JSONScanner) throws(InvalidValue) {
        let isText = value.peek() == UInt8(ascii: "\"")
        let text = isText ? try value.string() : String(decoding: bytes[try value.value()], as: UTF8.self)
        guard let size = TargetSize(parsing: text) else { return areUsable = false }
        if sizes.count <= LineParser.mostSizes, !sizes.contains(size) { sizes.append(size) }
      }
      try read(range, "sizes", from: first, "") { value throws(InvalidValue) in
        if first == UInt8(ascii: "[") { try value.array(add) } else { try add(&value) }
      }
      guard areUsable else {
        throw .invalidRequest(
          "sizes cannot be used: write 400x300, 400, 400x or x300, each side from 1 to "
            + "\(PixelSize.longestThumbnailSide) pixels")
      }
      if sizes.isEmpty { throw .invalidRequest("sizes cannot be used: give at least one") }
      if sizes.count > LineParser.mostSizes {
        throw .invalidRequest("sizes cannot be used: give at most \(LineParser.mostSizes)")
      }
      return sizes
    }
  }

  private func parse(object bytes: [UInt8], number: Int) -> ParsedLine {
    let members: Members
    do throws(InvalidValue) {
      members = try Members(bytes)
    } catch {
      return ParsedLine(number: number, content: .failure(.invalidLine(error.message)))
    }
    var line = ParsedLine(
      number: number, id: members.ranges["id"].map { Array(bytes[$0]) }, content: .failure(.invalidLine("")))
    line.content = Result { () throws(LineFailure) in
      let (url, path) = (try? members.text("url"), try? members.text("path"))
      line.address = url.map { .url($0) } ?? path.map { .path($0) }
      // A key that is no text is replaced in the response, too.
      let name: String?
      do throws(LineFailure) {
        name = try members.text("key")
      } catch {
        line.key = SampleKey(number: number - 1).text
        throw error
      }
      let key =
        try name.map { text throws(LineFailure) in try SampleKey(text, isInShard: writesShards) }
        ?? SampleKey(number: number - 1)
      line.key = key.text
      return WorkItem(
        origin: try origin(of: members), variants: try variants(for: members), key: key,
        caption: try members.text("caption"), members: try members.json())
    }
    return line
  }

  private func origin(of members: Members) throws(LineFailure) -> WorkItem.Origin {
    let headers = try members.headers()
    switch (try members.text("url"), try members.text("path"), try members.base64()) {
    case (let url?, nil, nil):
      guard !url.isEmpty, !url.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
        throw .invalidRequest("url cannot be used: it is empty or holds a control character")
      }
      return .url(url, headers: headers)
    case (nil, let path?, nil):
      guard allowsPaths else { throw .pathsRefused }
      guard !path.isEmpty, !path.utf8.contains(0) else {
        throw .invalidRequest("path cannot be used: it is empty or holds a zero byte")
      }
      return .path(path)
    case (nil, nil, let base64?): return .base64(base64)
    case (nil, nil, nil): throw .invalidRequest("there is no picture: give url, path or base64")
    default: throw .invalidRequest("there are several pictures: give one of url, path and base64")
    }
  }

  /// The variants of the line, or else of the options.
  private func variants(for members: Members) throws(LineFailure) -> [Variant] {
    let (sizes, fit, format, quality): ([TargetSize], Fit?, OutputFormat?, Int?) = (
      try members.sizes(), try members.choice("fit"), try members.choice("format"), try members.quality()
    )
    let models = sizes.isEmpty ? variants : Array(repeating: variants[0], count: sizes.count)
    var result: [Variant] = []
    for (index, model) in models.enumerated() {
      var variant = model
      if !sizes.isEmpty { variant.size = sizes[index].box }
      if let fit { (variant.fit, variant.gravity) = (fit, fit == .cover ? gravity : .centre) }
      if let format { variant.format = format }
      if let quality { variant.quality = quality }
      let size = TargetSize(variant.size)
      if variant.fit != .contain, size.isOpen {
        throw .invalidRequest("the size \(size) leaves a side open, which \(variant.fit.rawValue) cannot fill")
      }
      result.append(variant)
    }
    return result
  }
}

/// The request of a line.
struct WorkItem: Sendable {
  /// The place of the image's bytes.
  enum Origin: Sendable {
    case url(String, headers: [HTTPHeader])
    case path(String)
    /// Base64 text.
    case base64([UInt8])
  }

  let origin: Origin
  let variants: [Variant]
  /// The name of its files, without an extension.
  let key: SampleKey
  var caption: String?
  /// The members of the line's `json`: their names, and their values as JSON text.
  var members: [(name: String, value: [UInt8])] = []
}

/// A line that was read, or why it could not be.
struct ParsedLine: Sendable {
  /// The number of the line, from 1.
  let number: Int
  /// The caller's id as the JSON text that it was.
  var id: [UInt8]?
  /// The name of its files, if the line could be read.
  var key: String?
  /// The source as the line has it, for the response.
  var address: LineResponse.Address?
  var content: Result<WorkItem, LineFailure>
}
