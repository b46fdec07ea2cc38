import Foundation
import ImageCodec
import ThumbnailCore

@testable import Attacks
@testable import DecodeSandbox

/// The code that has taken over the helper: an order, read from the image.
struct Intruder {
  private let order: Substring
  private let name: String
  private let scene: Attempt.Scene

  /// Whether the code has stayed, to answer for all images from now on.
  nonisolated(unsafe) private static var stays = false

  /// Nil if the image has no order: at its start, or in the comment with which a JPEG begins. It is a line `attempt`, `exhaust`, `lie` or `stay`, a line with its name, and one with
  /// the path of the parent's file.
  init?(_ image: ByteSource) {
    if Self.stays {
      (order, name, scene) = ("stay", "", Attempt.Scene(parent: 0, file: ""))
      return
    }
    guard case .file(let file, _) = image, let bytes = try? image.read(at: 0, length: image.count) else { return nil }
    let start = bytes.starts(with: [0xFF, 0xD8, 0xFF, 0xFE]) ? 6 : 0
    let lines = bytes.dropFirst(start).split(
      separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
    guard lines.count == 4, ["attempt", "exhaust", "lie", "stay"].contains(String(decoding: lines[0], as: UTF8.self))
    else {
      return nil
    }
    order = Substring(decoding: lines[0], as: UTF8.self)
    name = String(decoding: lines[1], as: UTF8.self)
    // The last word of a helper's command line is its parent's number.
    scene = Attempt.Scene(
      parent: CommandLine.arguments.last.flatMap { Int($0) } ?? 0, file: String(decoding: lines[2], as: UTF8.self),
      image: Int(file.rawValue))
  }

  /// A true account of what came of it, or a lie.
  func response() -> (HelperResponse, [HelperAttachment]) {
    switch order {
    case "stay":
      // Safety: a helper has one thread while it decodes nothing.
      Self.stays = true
      return account("somebody has stayed")
    case "lie": return Lie(rawValue: name)?.response() ?? account("no such lie")
    case "exhaust": return account(Exhaustion(rawValue: name)?.run(scene) ?? "no such exhaustion")
    default:
      guard let attempt = Attempt.all.first(where: { $0.name == name }) else { return account("no such attempt") }
      return account(Attempt.account(of: attempt.run(scene)))
    }
  }

  private func account(_ text: String) -> (HelperResponse, [HelperAttachment]) {
    (HelperResponse(size: nil, outcomes: [.failure(.damaged(.decode, detail: text))]), [])
  }
}
