/// A camera maker's RAW format, recognised by a file's content.
package enum RAWFormat: String, Sendable, CaseIterable {
  case cr2 = "Canon CR2"
  case cr3 = "Canon CR3"
  case nef = "Nikon NEF"
  /// SR2 and SRF, too.
  case arw = "Sony ARW"
  case dng = "DNG"
  case raf = "Fujifilm RAF"
  case orf = "Olympus ORF"
  case rw2 = "Panasonic RW2"
  case pef = "Pentax PEF"
  case srw = "Samsung SRW"
  case mrw = "Minolta MRW"
  case threeFR = "Hasselblad 3FR"
  case iiq = "Phase One IIQ"
  case erf = "Epson ERF"
  /// A TIFF/EP file with a sensor's samples by another maker.
  case tiffEP = "TIFF/EP"

  /// The name for messages: `Nikon NEF`.
  package var displayName: String { rawValue }

  /// The format of a TIFF/EP file by its `Make`; formats with a signature are recognised by that.
  init(make: String) {
    let make = make.lowercased()
    let known: [(String, RAWFormat)] = [
      ("nikon", .nef), ("sony", .arw), ("pentax", .pef), ("ricoh", .pef), ("asahi", .pef), ("samsung", .srw),
      ("hasselblad", .threeFR), ("phase one", .iiq), ("leaf", .iiq), ("mamiya", .iiq), ("seiko epson", .erf),
      ("olympus", .orf), ("om digital", .orf), ("panasonic", .rw2), ("minolta", .mrw), ("konica minolta", .mrw),
      ("canon", .cr2),
    ]
    self = known.first { make.hasPrefix($0.0) }?.1 ?? .tiffEP
  }
}
