@testable import ImageCodec
import ThumbnailCore

/// The header prober: what it makes of a stream does not depend on the pieces, and is what the whole body tells.
func fuzzProber(_ input: FuzzInput) {
  let limits = DecodeLimits.fuzzing
  var streamed = HeaderProber(limits: limits)
  input.forEachPiece { piece in
    streamed.feed(piece)
    require(streamed.heldCount <= HeaderProber.mostHeld, "\(streamed.heldCount) bytes are held")
  }
  var atOnce = HeaderProber(limits: limits)
  input.bytes.withUnsafeBytes { _ = atOnce.feed($0) }
  require(streamed.status == atOnce.status, "in pieces \(streamed.status), at once \(atOnce.status)")

  let whole = Result { () throws(CodecError) in try probe(.memory(input.bytes), limits: limits) }
  let file = input.asFile()
  let inFile = Result { () throws(CodecError) in try probe(file, limits: limits) }
  require(whole == inFile, "in memory \(whole), in a file \(inFile)")

  switch (streamed.status, whole) {
  case (.probed(let probed), .success(var found)):
    // The frames behind those that have arrived whole are not counted.
    found.frameCount = probed.frameCount
    require(found == probed, "streamed \(probed), whole \(found)")
  case (.failed(let error), let found):
    require(found == .failure(error), "streamed \(error), whole \(found)")
  case (.probed, .failure), (.more, _), (.unclear, _):
    break
  }
}
