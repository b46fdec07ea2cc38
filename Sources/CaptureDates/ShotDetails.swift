import RAWPreviews

/// What the EXIF data of a photograph contains about the camera, the exposure and the place.
package struct ShotDetails: Sendable, Equatable {
  /// The maker and the model.
  package var camera: String?
  package var lens: String?
  /// In seconds.
  package var exposureTime: Double?
  /// The f-number.
  package var aperture: Double?
  /// The sensitivity as an ISO speed.
  package var sensitivity: Int?
  /// In millimetres.
  package var focalLength: Double?
  /// The place in degrees, north and east of zero.
  package var place: Place?

  package struct Place: Sendable, Equatable {
    package var latitude: Double
    package var longitude: Double
  }

  private enum Tag {
    static let make = 0x010F
    static let model = 0x0110
    static let exposureTime = 0x829A
    static let aperture = 0x829D
    static let gps = 0x8825
    static let sensitivity = 0x8827
    static let focalLength = 0x920A
    static let lens = 0xA434
  }

  /// Adds what a TIFF structure contains, or the camera alone. `directories` are the first ones of it.
  mutating func take(_ directories: [RAWDirectory], of tiff: TIFFWalk, cameraOnly: Bool) throws(MissingBytes) {
    for directory in directories {
      if camera == nil {
        camera = Self.camera(try tiff.text(directory[Tag.make]), try tiff.text(directory[Tag.model]))
      }
      if cameraOnly { continue }
      if lens == nil { lens = try tiff.text(directory[Tag.lens]) }
      if exposureTime == nil { exposureTime = try tiff.rational(directory[Tag.exposureTime]) }
      if aperture == nil { aperture = try tiff.rational(directory[Tag.aperture]) }
      if sensitivity == nil { sensitivity = try tiff.number(directory[Tag.sensitivity]) }
      if focalLength == nil { focalLength = try tiff.rational(directory[Tag.focalLength]) }
      if place == nil, let position = try tiff.number(directory[Tag.gps]), let gps = try tiff.directory(at: position) {
        place = try Self.place(gps, tiff)
      }
    }
  }

  /// Adds the place of a TIFF structure that has nothing else.
  mutating func takePlace(of structure: TIFFWalk) throws(MissingBytes) {
    var tiff = structure
    if try tiff.readHeader(), let gps = try tiff.directory(at: tiff.first) { place = try Self.place(gps, tiff) }
  }

  /// Most models contain the name of their maker, in one spelling or another.
  private static func camera(_ make: String?, _ model: String?) -> String? {
    guard let make, let model else { return model ?? make }
    let name = make.prefix { $0 != " " }
    return model.lowercased().hasPrefix(name.lowercased()) ? model : "\(name) \(model)"
  }

  private static func place(_ gps: RAWDirectory, _ tiff: TIFFWalk) throws(MissingBytes) -> Place? {
    guard let latitude = try degrees(gps, 1, "S", tiff), let longitude = try degrees(gps, 3, "W", tiff),
      abs(latitude) <= 90, abs(longitude) <= 180,
      // Without reception cameras write zeros.
      latitude != 0 || longitude != 0
    else { return nil }
    return Place(latitude: latitude, longitude: longitude)
  }

  /// Degrees, minutes and seconds; the field before them contains the direction.
  private static func degrees(
    _ gps: RAWDirectory, _ reference: Int, _ negative: String, _ tiff: TIFFWalk
  ) throws(MissingBytes) -> Double? {
    let field = gps[reference + 1]
    guard let direction = try tiff.text(gps[reference]), let degrees = try tiff.rational(field) else { return nil }
    let value = degrees + (try tiff.rational(field, 1) ?? 0) / 60 + (try tiff.rational(field, 2) ?? 0) / 3600
    return direction == negative ? -value : value
  }
}

extension TIFFWalk {
  /// The bytes of a field's text that are read.
  private static let longestText = 96

  /// A field's printable text without blanks around it; nil if there is none.
  fileprivate func text(_ field: RAWDirectory.Field?) throws(MissingBytes) -> String? {
    guard let field, field.kind == 2,
      let bytes = try known.slice(field.place..<field.place + min(field.count, Self.longestText))
    else { return nil }
    let visible = bytes.prefix { $0 != 0 }.filter { $0 >= 0x20 && $0 != 0x7F }
    let words = visible.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
    return words.isEmpty ? nil : words.joined(separator: " ")
  }
}
