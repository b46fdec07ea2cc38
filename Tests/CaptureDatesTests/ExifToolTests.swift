import TestSupport

@testable import CaptureDates
@testable import ThumbnailCore

private let hasExifTool = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
  access("\($0)/exiftool", X_OK) == 0
}

/// What exiftool writes is read, and what it reads of cameras' files is what we read: a second opinion, where exiftool
/// is installed.
@Suite(.timeLimit(.minutes(5)), .enabled(if: hasExifTool, "exiftool is not installed")) struct ExifToolTests {
  private func exiftool(_ arguments: [String]) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["exiftool"] + arguments
    process.standardError = FileHandle.nullDevice
    return Data(try process.printed().utf8)
  }

  @Test func whatItWritesIntoEachFormatIsRead() throws {
    let directory = try TemporaryDirectory()
    let formats = [
      "jpeg-420.jpg", "png-rgb.png", "webp-lossy.webp", "tiff-rgb.tif", "heic.heic", "avif.avif",
    ].map { TestImages.url("formats/\($0)").path }.filter { FileManager.default.fileExists(atPath: $0) }
    #expect(formats.count >= 4)
    let tags = ["-DateTimeOriginal=2026:11:20 08:05:09", "-OffsetTimeOriginal=+09:00", "-SubSecTimeOriginal=25"]
    _ = try exiftool(tags + ["-o", directory.url.path + "/"] + formats)
    for name in directory.contents {
      let date = try DateReader.date(of: RawPath(directory.url.path + "/" + name)).date
      #expect(date.text == "2026-11-20T08:05:09.250+09:00", "\(name)")
    }
    #expect(directory.contents.count == formats.count)
  }

  @Test(.withTheCorpus)
  func itReadsTheSameOfCamerasFiles() throws {
    struct Report: Decodable {
      let SourceFile: String
      let DateTimeOriginal: String?
      let CreateDate: String?
    }
    let tags = ["-j", "-EXIF:DateTimeOriginal", "-EXIF:CreateDate"]
    let data = try exiftool(tags + [SharedCorpus.root.appending(path: "raw").path])
    for report in try JSONDecoder().decode([Report].self, from: data) {
      let date = try DateReader.date(of: RawPath(report.SourceFile)).date
      let told = [report.DateTimeOriginal, report.CreateDate].lazy
        .compactMap { $0.flatMap { CaptureDate(Array($0.utf8), source: .camera) } }.first
      #expect((date.source == .camera ? date.day : nil) == told?.day, "\(report.SourceFile)")
    }
  }
}
