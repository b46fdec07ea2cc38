import ArgumentParser
import Exports
import Foundation
import ThumbnailCore
import Thumbnailer

/// One run of `thumbs get`.
extension GetCommand {
  /// Makes the thumbnail, writes the requested files, and returns the exit status.
  func makeThumbnail(_ log: VerboseLog?) async throws -> ExitCode {
    var source =
      picture == "-"
      ? try ImageSource.standardInput(mostBytes: pipelineConfiguration().maximumSourceBytes.bytes)
      : try ImageSource(commandLine: picture)
    if picture == "-" && OutputFile.isSameFile(RawPath("-"), output)
      || source.isUserFile && OutputFile.isSameFile(RawPath(fileURL: source.url), output)
    {
      throw CommandFailure(
        .cannotWrite, "\(output) is the picture itself, which would be lost; choose another --output")
    }
    do throws(FileWriteError) {
      if output != "-" { try OutputFile.check(output, try? FileState(of: RawPath(output)), for: variant.size) }
    } catch {
      throw CommandFailure(error, choose: "another --output")
    }
    source = source.adding(try logins.added(to: network.hostHeaders(for: source.url)))
    if output == "-", isatty(Console.standard.output) == 1 {
      throw CommandFailure(
        .cannotWrite, "stdout is a terminal, which cannot show a picture; name a file with --output, or use a pipe")
    }
    let interruption = Interruption()
    let started = ContinuousClock.now
    let result: Result<ThumbnailResponse, ThumbnailError>
    var opened: ThumbnailPipeline?
    do {
      let pipeline = try ThumbnailPipeline(pipelineConfiguration())
      opened = pipeline
      log?.follow(pipeline)
      result = try await fetch(source, through: pipeline, interruption)
    } catch let error as ThumbnailError {
      result = .failure(error)
    }
    if let signal = interruption.signal { return .stopped(by: signal) }
    let status: ExitCode
    do {
      status = try handOver(result, of: source, after: ContinuousClock.now - started)
    } catch {
      status = Console.standard.report(CommandFailure(error))
    }
    if let pipeline = opened {
      // Background revalidation of a stale thumbnail happens here, after the output, so that it delays nothing.
      _ = try? await Interruption().cancelling { await pipeline.finishRevalidations() }
      await pipeline.flush()
    }
    return status
  }

  /// Requests the thumbnail from the pipeline and flushes the disk cache.
  private func fetch(
    _ source: ImageSource, through pipeline: ThumbnailPipeline, _ interruption: Interruption
  ) async throws -> Result<ThumbnailResponse, ThumbnailError> {
    let explanation = explain ? Explanation(following: pipeline) : nil
    _ = CacheNotices(pipeline, isQuiet: quiet)
    let request = ThumbnailRequest(source, variant: variant)
    var result: Result<ThumbnailResponse, ThumbnailError>
    do {
      result = .success(
        try await interruption.cancelling {
          if let stored = await storedThumbnail(source, in: pipeline) { return stored }
          return try await pipeline.response(for: request)
        })
    } catch let error as ThumbnailError {
      // Continue to the flush, since the cache stores failures, too.
      result = .failure(error)
    }
    await pipeline.flush()
    guard case .success(let response) = result else { return result }
    // A thumbnail that could not be written is not reported as stored.
    result = .success(await response.committed())
    await explanation?.print(of: response.thumbnail, toStdout: output != "-" && !json)
    return result
  }

  /// The stored thumbnail that other commands have made without `--format`, if its format is the one that the output's
  /// extension decides: it is the same thumbnail.
  private func storedThumbnail(_ source: ImageSource, in pipeline: ThumbnailPipeline) async -> ThumbnailResponse? {
    guard !explain, variant.format != thumbnail.format else { return nil }
    var other = variant
    other.format = .auto
    var request = ThumbnailRequest(source, variant: other)
    request.options.isStoredOnly = true
    let response = try? await pipeline.response(for: request)
    return response.flatMap { $0.thumbnail.format.rawValue == variant.format.rawValue ? $0 : nil }
  }

  private func pipelineConfiguration() throws -> ThumbnailPipeline.Configuration {
    var configuration = try ThumbnailPipeline.Configuration(
      cache, decoding, memory, limit, previews, formats, freshness, network)
    configuration.objectStorage = SecretVariables.objectStorage
    if explain {
      configuration.diskCacheLimit = ByteSize(bytes: 0)
      configuration.memoryCacheLimit = ByteSize(bytes: 0)
    }
    return configuration
  }

  /// Writes the thumbnail, reports the outcome, and returns the exit status.
  private func handOver(
    _ result: Result<ThumbnailResponse, ThumbnailError>, of source: ImageSource, after duration: Duration
  ) throws -> ExitCode {
    let console = Console.standard
    var path: String?
    if case .success(let response) = result, target != nil {
      try write(response.thumbnail)
      path = output
    }
    let report = PictureReport(id: picture, source: source, results: [result], duration: duration, paths: [path])
    if json {
      try console.print(report.json.line)
    } else if let error = report.error {
      console.complain("\(picture): \(error.message)")
    } else if report.isDamaged, !quiet {
      console.complain("\(picture): damaged; the thumbnail shows what can be read of it")
    }
    return report.error == nil ? .success : .someFailed
  }

  private func write(_ thumbnail: Thumbnail) throws {
    if let namedFormat, namedFormat.rawValue != thumbnail.format.rawValue, !quiet {
      Console.standard.complain(
        "\(output) will hold \(thumbnail.format.displayName), as --format says, whatever its name")
    }
    if output == "-" { return try Console.standard.print(bytes: thumbnail.data) }
    do throws(FileWriteError) {
      try OutputFile.write(thumbnail.data, of: thumbnail.size, to: output)
    } catch {
      throw CommandFailure(error, choose: "another --output")
    }
  }
}
