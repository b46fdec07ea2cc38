import Foundation
import ThumbnailCore
import HTTPTransport
import Thumbnailer

extension ThumbnailWorker {
  /// Makes the thumbnails of a line, and writes them unless that depends on other lines.
  ///
  /// - Returns: The response, and the files that are still to be written, in the order of the lines.
  func work(
    on item: WorkItem, of line: ParsedLine, _ report: @escaping @Sendable (ServerSilence) -> Void
  ) async -> (LineResponse, [SampleFiles.File]) {
    var response = LineResponse(to: line, .skipped(.ending))
    do throws(LineFailure) {
      var source = try source(of: item)
      if options.givesOriginals, item.isOnWeb { source = .data(try await original(of: source, for: &response)) }
      ledger.begin(source.key)
      let results = await pipeline.responses(
        for: item.variants.map { ThumbnailRequest(source, variant: $0, priority: .prefetch) }, onSilence: report)
      response.work.add(ledger.end(source.key))
      var made = try self.made(results, of: item, source)
      let files = name(&made, of: item, address: line.address)
      response.outcome = .ok(made)
      if case .inline = options.destination { response.isInline = true }
      guard let folder else { return (response, files) }
      response.work.write = try await folder.write(files)
    } catch {
      response.outcome = .failed(error)
    }
    return (response, [])
  }

  /// Downloads the whole file of a URL for the response.
  private func original(of source: ImageSource, for response: inout LineResponse) async throws(LineFailure) -> Data {
    ledger.begin(source.key)
    defer { response.work = ledger.end(source.key) }
    do throws(ThumbnailError) {
      let (data, share) = try await pipeline.original(of: source, in: originals)
      (response.original, response.originalShare) = (data, share)
      return data
    } catch {
      throw LineFailure(error, isOnWeb: true)
    }
  }

  private func source(of item: WorkItem) throws(LineFailure) -> ImageSource {
    switch item.origin {
    case .url(let text, let headers) where text.hasPrefix("\(ObjectStorage.scheme)://"):
      guard let source = pipeline.configuration.objectStorage?.source(text, headers: headers) else {
        throw .invalidRequest(ObjectStorage.advice)
      }
      return source
    case .url(let text, let headers):
      guard let url = URL(string: text) else { throw .invalidRequest("url is no URL: check its spelling") }
      return ImageSource(url, headers: headers).adding(options.headers)
    case .path(let path): return .file(at: path)
    case .base64(let text):
      guard let data = Self.decoded(text), !data.isEmpty else {
        throw .invalidRequest("base64 cannot be decoded: give the bytes of a picture in standard Base64")
      }
      return .data(data)
    }
  }

  /// The bytes of Base64 text, with or without the padding.
  private static func decoded(_ text: [UInt8]) -> Data? {
    let missing = (4 - text.count % 4) % 4
    return Data(base64Encoded: Data(text) + Data(repeating: UInt8(ascii: "="), count: missing))
  }

  /// All thumbnails of a line, or the error of the first that failed.
  private func made(
    _ results: [Result<ThumbnailResponse, ThumbnailError>], of item: WorkItem, _ source: ImageSource
  ) throws(LineFailure) -> [LineResponse.Made] {
    var made: [LineResponse.Made] = []
    for (variant, result) in zip(item.variants, results) {
      switch result {
      case .success(let response):
        made.append(
          LineResponse.Made(
            variant: variant, response: response,
            sha256: SHA256.hash(response.thumbnail.data).hexadecimal,
            cacheKey: "\(source.key.hex)/\(variant.token)"))
      case .failure(let error): throw LineFailure(error, isOnWeb: item.isOnWeb)
      }
    }
    return made
  }

  /// Names the files of a line, and returns them.
  private func name(
    _ made: inout [LineResponse.Made], of item: WorkItem, address: LineResponse.Address?
  ) -> [SampleFiles.File] {
    switch options.destination {
    case .cache, .inline: return []
    case .folder, .shards: break
    }
    for index in made.indices {
      made[index].path = SampleFiles.name(
        of: made[index].thumbnail, variant: made[index].variant, key: item.key, sizeCount: made.count)
    }
    return SampleFiles.files(
      of: item, made, address: address, hasSidecars: options.destination.isShards, options.wording)
  }
}

extension WorkItem {
  var isOnWeb: Bool { if case .url = origin { true } else { false } }
}
