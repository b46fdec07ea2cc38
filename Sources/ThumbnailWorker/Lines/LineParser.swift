import Foundation
import HTTPSemantics
import ThumbnailCore

/// Reads lines: a URL, or a JSON object.
struct LineParser: Sendable {
  /// The most sizes of a line.
  static let mostSizes = 32

  /// What is asked for where a line does not say otherwise. Not empty.
  let variants: [Variant]
  /// What is kept where a line alone wants `cover`.
  let gravity: Gravity
  /// The number that the key of the first line has.
  let firstNumber: Int
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
    let key = SampleKey(number: firstNumber + number - 1)
    return ParsedLine(
      number: number, key: key.text, address: .url(text),
      content: .success(WorkItem(origin: .url(text, headers: []), variants: variants, key: key)))
  }

  // MARK: An object

  /// The members of an object, as far as they could be used.
  private struct Members {
    var id: Range<Int>?
    var (url, path, key, caption): (String?, String?, String?, String?)
    var base64: [UInt8]?
    var headers: [HTTPHeader] = []
    var sizes: [TargetSize] = []
    var fit: Fit?
    var format: OutputFormat?
    var quality: Int?
    var json: [(name: String, value: [UInt8])] = []
    /// The member that is read now.
    var current = ""
    /// Members that cannot be used, in their order, each with its first reason.
    private(set) var problems: [(name: String, failure: LineFailure)] = []

    /// A member begins. It counts as it comes last.
    mutating func begin(_ name: String) {
      current = name
      problems.removeAll { $0.name == name }
    }

    /// A member is null, and so counts as missing.
    mutating func clear(_ name: String) {
      switch name {
      case "url": url = nil
      case "path": path = nil
      case "key": key = nil
      case "caption": caption = nil
      case "base64": base64 = nil
      case "headers": headers = []
      case "sizes": sizes = []
      case "fit": fit = nil
      case "format": format = nil
      case "quality": quality = nil
      case "json": json = []
      default: break
      }
    }

    mutating func refuse(_ reason: String) {
      // A list may hold a million values that cannot be used.
      if problems.last?.name != current { problems.append((current, .invalidRequest(reason))) }
    }
  }

  private func parse(object bytes: [UInt8], number: Int) -> ParsedLine {
    var scanner = JSONScanner(bytes)
    var members = Members()
    do throws(JSONScanner.Problem) {
      try scanner.object { (name, rest) throws(JSONScanner.Problem) in
        try take(name, from: &rest, into: &members)
      }
      try scanner.expectEnd()
    } catch {
      return ParsedLine(number: number, content: .failure(.invalidLine(error.reason)))
    }
    var line = ParsedLine(
      number: number, id: members.id.map { Array(bytes[$0]) }, content: .failure(.invalidLine("")))
    line.address = members.url.map { .url($0) } ?? members.path.map { .path($0) }
    line.content = Result { () throws(LineFailure) in
      let key =
        try members.key.map { text throws(LineFailure) in try SampleKey(text, isInShard: writesShards) }
        ?? SampleKey(number: firstNumber + number - 1)
      line.key = key.text
      if let problem = members.problems.first { throw problem.failure }
      return WorkItem(
        origin: try origin(of: members), variants: try variants(for: members), key: key, caption: members.caption,
        members: members.json)
    }
    return line
  }

  /// Takes one member. Its value is taken in any case, so that the rest of the object can be read.
  private func take(
    _ name: String, from scanner: inout JSONScanner, into members: inout Members
  ) throws(JSONScanner.Problem) {
    if name == "id" {
      members.id = try scanner.value()
      return
    }
    members.begin(name)
    if try scanner.null() { return members.clear(name) }
    switch name {
    case "url": members.url = try text(name, &scanner, &members)
    case "path": members.path = try text(name, &scanner, &members)
    case "key": members.key = try text(name, &scanner, &members)
    case "caption": members.caption = try text(name, &scanner, &members)
    case "base64": members.base64 = try base64(&scanner, &members)
    case "headers": try headers(&scanner, &members)
    case "sizes": try sizes(&scanner, &members)
    case "fit":
      members.fit = try choice(name, &scanner, &members)
    case "format":
      members.format = try choice(name, &scanner, &members)
    case "quality":
      guard let quality = try scanner.integer(), (1...100).contains(quality) else {
        return members.refuse("quality cannot be used: give a number from 1 to 100")
      }
      members.quality = quality
    case "json":
      guard scanner.peek() == UInt8(ascii: "{") else {
        try scanner.value()
        return members.refuse("json cannot be used: give an object")
      }
      members.json = []
      try scanner.object { (name, rest) throws(JSONScanner.Problem) in
        let range = try rest.value()
        members.json.append((name, Array(rest.bytes[range])))
      }
    default: try scanner.value()
    }
  }

  private func text(
    _ name: String, _ scanner: inout JSONScanner, _ members: inout Members
  ) throws(JSONScanner.Problem) -> String? {
    guard scanner.peek() == UInt8(ascii: "\"") else {
      try scanner.value()
      members.refuse("\(name) cannot be used: give a text")
      return nil
    }
    return try scanner.string()
  }

  /// The Base64 text, which is decoded later, on the thread that works on the line.
  private func base64(
    _ scanner: inout JSONScanner, _ members: inout Members
  ) throws(JSONScanner.Problem) -> [UInt8]? {
    guard scanner.peek() == UInt8(ascii: "\"") else {
      try scanner.value()
      members.refuse("base64 cannot be used: give a text")
      return nil
    }
    var copy = scanner
    let (range, hasEscapes) = try scanner.stringRange()
    return hasEscapes ? Array(try copy.string().utf8) : Array(scanner.bytes[range])
  }

  private func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, _ scanner: inout JSONScanner, _ members: inout Members
  ) throws(JSONScanner.Problem) -> Choice? where Choice.RawValue == String {
    guard let text = try text(name, &scanner, &members) else { return nil }
    let value = name == "format" && text == "jpg" ? "jpeg" : text
    if let choice = Choice(rawValue: value) { return choice }
    let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    members.refuse("\(name) cannot be used: give one of \(choices)")
    return nil
  }

  private func headers(_ scanner: inout JSONScanner, _ members: inout Members) throws(JSONScanner.Problem) {
    guard scanner.peek() == UInt8(ascii: "{") else {
      try scanner.value()
      return members.refuse("headers cannot be used: give an object of texts")
    }
    var headers: [HTTPHeader] = []
    try scanner.object { (name, rest) throws(JSONScanner.Problem) in
      guard let value = try text("the header \(name)", &rest, &members) else { return }
      let header = HTTPHeader(name, value)
      if !header.isWellFormed { members.refuse("headers holds a name or value that HTTP does not allow") }
      headers.append(header)
    }
    // Sorted by name, so that the digest of the source does not depend on their order.
    members.headers = headers.sorted { $0.name < $1.name }
  }

  private func sizes(_ scanner: inout JSONScanner, _ members: inout Members) throws(JSONScanner.Problem) {
    members.sizes = []
    guard scanner.peek() == UInt8(ascii: "[") else { return try size(&scanner, &members) }
    try scanner.array { rest throws(JSONScanner.Problem) in try size(&rest, &members) }
    if members.sizes.isEmpty { members.refuse("sizes cannot be used: give at least one") }
    if members.sizes.count > Self.mostSizes { members.refuse("sizes cannot be used: give at most \(Self.mostSizes)") }
  }

  private func size(_ scanner: inout JSONScanner, _ members: inout Members) throws(JSONScanner.Problem) {
    let text: String
    if scanner.peek() == UInt8(ascii: "\"") {
      text = try scanner.string()
    } else {
      let range = try scanner.value()
      text = String(decoding: scanner.bytes[range], as: UTF8.self)
    }
    guard let size = TargetSize(parsing: text) else {
      return members.refuse(
        "sizes cannot be used: write 400x300, 400, 400x or x300, each side from 1 to "
          + "\(PixelSize.longestThumbnailSide) pixels")
    }
    // One more than allowed tells that there are too many.
    if members.sizes.count <= Self.mostSizes, !members.sizes.contains(size) { members.sizes.append(size) }
  }

  private func origin(of members: Members) throws(LineFailure) -> WorkItem.Origin {
    switch (members.url, members.path, members.base64) {
    case (let url?, nil, nil):
      guard !url.isEmpty, !url.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
        throw .invalidRequest("url cannot be used: it is empty or holds a control character")
      }
      return .url(url, headers: members.headers)
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

  /// The variants of the options, or of the line where it says otherwise.
  private func variants(for members: Members) throws(LineFailure) -> [Variant] {
    var variants = variants
    if !members.sizes.isEmpty {
      let model = variants[0]
      variants = members.sizes.map {
        var variant = model
        variant.size = $0.box
        return variant
      }
    }
    for index in variants.indices {
      if let fit = members.fit {
        variants[index].gravity = fit == .cover ? gravity : .centre
        variants[index].fit = fit
      }
      if let format = members.format { variants[index].format = format }
      if let quality = members.quality { variants[index].quality = quality }
      let size = TargetSize(variants[index].size)
      if variants[index].fit != .contain, size.isOpen {
        throw .invalidRequest("the size \(size) leaves a side open, which \(variants[index].fit.rawValue) cannot fill")
      }
    }
    return variants
  }
}

/// What a line asks for.
struct WorkItem: Sendable {
  /// Where the bytes of the image are.
  enum Origin: Sendable {
    case url(String, headers: [HTTPHeader])
    case path(String)
    /// Base64 text.
    case base64([UInt8])
  }

  let origin: Origin
  let variants: [Variant]
  /// The name of its files, without an end.
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
