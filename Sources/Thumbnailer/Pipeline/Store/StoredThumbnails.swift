import Foundation
import ImageCodec
import ThumbnailCache
import ThumbnailCore

/// A thumbnail from the caches.
struct FoundThumbnail: Sendable {
  let variant: Variant
  var stored: DatedThumbnail
  /// Whether it was shrunk from a larger one, and is not stored itself yet.
  let isShrunk: Bool
  /// Whether it may be used without revalidation.
  let isFresh: Bool

  /// The response for its waiters.
  func response(
    origin: ThumbnailResponse.Origin, isStored: Bool = true, receipt: StoreReceipt? = nil
  ) -> ThumbnailResponse {
    ThumbnailResponse(thumbnail: stored.thumbnail, origin: origin, isStored: isStored, receipt: receipt)
  }
}

/// Turns the contents of the caches into thumbnails: as stored, or shrunk from larger ones; and decides whether they
/// are stale.
struct StoredThumbnails: Sendable {
  let limits: DecodeLimits
  let runner: DecodeRunner

  /// The thumbnail of a hit: as stored, or shrunk from a larger one. Nil if that cannot be shrunk.
  func thumbnail(_ variant: Variant, from hit: CacheLookup.Hit, for job: JobContext) async -> FoundThumbnail? {
    func found(_ stored: DatedThumbnail, isShrunk: Bool) -> FoundThumbnail {
      FoundThumbnail(
        variant: variant, stored: stored, isShrunk: isShrunk, isFresh: job.policy.rule.admits(stored.freshness))
    }
    switch hit {
    case .exact(let exact): return found(exact, isShrunk: false)
    case .larger(let larger): return await shrink(larger, to: variant, for: job).map { found($0, isShrunk: true) }
    }
  }

  /// The thumbnail made from a larger one, which must have the same aspect. It is fresh for as long as that one.
  ///
  /// Its size is that of a thumbnail made from the source image. The larger thumbnail's size does not suffice for that,
  /// because it is rounded: an image of 6000×4000 becomes 400×267 and 200×133, but half of 400×267 is 200×134.
  private func shrink(_ larger: DatedThumbnail, to variant: Variant, for job: JobContext) async -> DatedThumbnail? {
    let bytes = ByteSource.memory([UInt8](larger.thumbnail.data))
    let source = larger.thumbnail.source
    var variant = variant
    variant.size = ThumbnailGeometry(source: source.size, variant: variant, isDrawing: source.format.isDrawing).output
    variant.fit = .fill
    guard let probe = try? probe(bytes, limits: limits) else { return nil }
    let body = SourceBody(bytes, header: .success(probe))
    var decode = runner.decode([variant], probe, of: body, for: job)
    decode.request.terms.most = decode.request.terms.share
    (decode.request.terms.acceptsDamage, decode.request.terms.isCutOnly) = (false, false)
    var made = await made(decode, body, for: job)
    if let missing = made.missing {
      decode.grant(missing)
      made = await self.made(decode, body, for: job)
    }
    guard var thumbnail = made.thumbnail else { return nil }
    thumbnail.source = source
    thumbnail.isDamaged = larger.thumbnail.isDamaged
    return DatedThumbnail(thumbnail: thumbnail, freshness: larger.freshness)
  }

  /// The thumbnail, or the memory that its decode needs.
  private func made(
    _ decode: Decode, _ body: SourceBody, for job: JobContext
  ) async -> (thumbnail: Thumbnail?, missing: Int?) {
    guard let reservation = try? await runner.reserve(decode, of: body.bytes, for: job) else { return (nil, nil) }
    defer { reservation.release() }
    let made = try? await runner.work(for: job) { [runner] cancellation -> (Thumbnail?, Int?) in
      switch runner.carryOut(decode, of: body, for: job, cancellation) {
      case .made(let made, _, _): (try? runner.finish(made, decode, of: body, cancellation).first?.result.get(), nil)
      case .needs(.memory(let bytes)): (nil, bytes)
      case .needs: (nil, nil)
      }
    }
    return made ?? (nil, nil)
  }
}
