import TestSupport

@testable import CaptureDates
@testable import ThumbnailCore

/// Camera, exposure and place in EXIF data.
@Suite(.timeLimit(.minutes(5))) struct ShotDetailsTests {
  private enum Value {
    case text(String)
    case number(Int)
    case fractions([(Int, Int)])
  }

  /// A TIFF structure whose first directory leads to the other two.
  private static func tiff(
    _ first: [Int: Value], exif: [Int: Value] = [:], gps: [Int: Value] = [:], isBigEndian: Bool
  ) -> [UInt8] {
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      isBigEndian ? DateSamples.big(value, count) : DateSamples.little(value, count)
    }
    func directory(_ fields: [Int: Value], at place: Int) -> [UInt8] {
      var (entries, values) = (number(fields.count, 2), [UInt8]())
      let valuesBegin = place + 2 + 12 * fields.count + 4
      for (tag, field) in fields.sorted(by: { $0.key < $1.key }) {
        var (kind, count, bytes) = (2, 0, [UInt8]())
        switch field {
        case .text(let text): (count, bytes) = (text.utf8.count + 1, Array(text.utf8) + [0])
        case .number(let value): (kind, count, bytes) = (4, 1, number(value, 4))
        case .fractions(let parts):
          (kind, count, bytes) = (5, parts.count, parts.flatMap { number($0.0, 4) + number($0.1, 4) })
        }
        let isLong = bytes.count > 4
        entries += number(tag, 2) + number(kind, 2) + number(count, 4)
        entries +=
          isLong ? number(valuesBegin + values.count, 4) : bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
        if isLong { values += bytes }
      }
      return entries + number(0, 4) + values
    }
    let (exifPlace, gpsPlace) = (1000, 2000)
    var bytes = Array((isBigEndian ? "MM\0*" : "II*\0").utf8) + number(8, 4)
    let all = first.merging([0x8769: .number(exifPlace), 0x8825: .number(gpsPlace)]) { given, _ in given }
    for (place, fields) in [(8, all), (exifPlace, exif), (gpsPlace, gps)] {
      bytes += [UInt8](repeating: 0, count: place - bytes.count) + directory(fields, at: place)
    }
    return bytes
  }

  private static let camera: [Int: Value] = [0x010F: .text("NIKON CORPORATION"), 0x0110: .text("NIKON Z 6  ")]
  private static let exposure: [Int: Value] = [
    0x829A: .fractions([(1, 250)]), 0x829D: .fractions([(28, 10)]), 0x8827: .number(400),
    0x9003: .text("2026:11:20 08:05:09"), 0x920A: .fractions([(50, 1)]), 0xA434: .text("50 mm f/1.8"),
  ]
  private static let place: [Int: Value] = [
    1: .text("S"), 2: .fractions([(33, 1), (51, 1), (2439, 100)]), 3: .text("E"), 4: .fractions([(151, 1), (12, 1)]),
  ]

  private func details(_ bytes: [UInt8]) -> (date: CaptureDate?, details: ShotDetails) {
    DateReader.details(in: .memory(DateSamples.jpeg(exif: bytes)))
  }

  @Test(arguments: [true, false]) func cameraExposureAndPlaceAreRead(isBigEndian: Bool) throws {
    let (date, shot) = details(Self.tiff(Self.camera, exif: Self.exposure, gps: Self.place, isBigEndian: isBigEndian))
    #expect(date?.text == "2026-11-20T08:05:09")
    #expect(shot.camera == "NIKON Z 6" && shot.lens == "50 mm f/1.8")
    #expect(shot.exposureTime == 1.0 / 250 && shot.aperture == 2.8 && shot.sensitivity == 400)
    #expect(shot.focalLength == 50)
    let place = try #require(shot.place)
    #expect(abs(place.latitude + 33.856775) < 1e-6 && place.longitude == 151.2)
  }

  @Test func thePlaceInCanonsBoxesIsRead() throws {
    let exif = Self.tiff(Self.camera, exif: Self.exposure, isBigEndian: false)
    let gps = Self.tiff(Self.place, isBigEndian: false)
    let (date, shot) = DateReader.details(in: .memory(DateSamples.cr3(exif: exif, gps: gps)))
    #expect(date?.text == "2026-11-20T08:05:09" && shot.sensitivity == 400)
    let place = try #require(shot.place)
    #expect(abs(place.latitude + 33.856775) < 1e-6 && place.longitude == 151.2)
  }

  @Test func aMakerStandsBeforeAModelThatDoesNotNameIt() {
    func camera(_ make: String, _ model: String) -> String? {
      details(Self.tiff([0x010F: .text(make), 0x0110: .text(model)], isBigEndian: true)).details.camera
    }
    #expect(camera("FUJIFILM", "X-T3") == "FUJIFILM X-T3")
    #expect(camera("Canon", "Canon EOS R5") == "Canon EOS R5")
    #expect(camera("", "X") == "X" && camera("\u{7}", " ") == nil)
  }

  @Test func aPlaceThatIsNoneIsLeftOut() {
    let zero: Value = .fractions([(0, 1), (0, 1), (0, 1)])
    for (latitude, longitude) in [
      (zero, zero), (.fractions([(91, 1)]), zero), (zero, .fractions([(181, 1)])), (.fractions([(1, 0)]), zero),
      (.number(5), zero),
    ] {
      let gps: [Int: Value] = [1: .text("N"), 2: latitude, 3: .text("E"), 4: longitude]
      #expect(details(Self.tiff([:], gps: gps, isBigEndian: true)).details.place == nil)
    }
  }

  @Test func aStructureThatIsCutOrPointsAnywhereLeavesTheRest() {
    let whole = Self.tiff(Self.camera, exif: Self.exposure, gps: Self.place, isBigEndian: false)
    for length in stride(from: 0, to: whole.count, by: 7) {
      _ = DateReader.details(in: .memory(Array(whole[..<length])))
    }
    let astray = Self.tiff(
      Self.camera.merging([0x8825: .number(0xFFFF_FFFF)]) { given, _ in given }, exif: Self.exposure, isBigEndian: true)
    let (date, shot) = details(astray)
    #expect(date != nil && shot.camera == "NIKON Z 6" && shot.place == nil)
    #expect(details([]).details == ShotDetails())
  }
}
