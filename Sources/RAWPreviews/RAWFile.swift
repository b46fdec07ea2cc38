/// The contents of a RAW file's container: its format, the camera's orientation, and the embedded images.
///
/// The sensor's samples are never read.
package struct RAWFile: Sendable, Equatable {
  package var format: RAWFormat
  /// The EXIF orientation, 1 to 8, as the RAW's own directory states it, or else that of its largest preview.
  package var orientation = 1
  /// All images embedded in it, readable or not, in the order of their positions.
  package var images: [EmbeddedImage] = []

  /// The JPEGs that can be decoded, the smallest first.
  package var previews: [EmbeddedImage] {
    images.filter { $0.encoding == .jpeg }.sorted {
      ($0.width * $0.height, $0.range.count) < ($1.width * $1.height, $1.range.count)
    }
  }
}

/// An image embedded in a RAW file.
package struct EmbeddedImage: Sendable, Equatable {
  /// How it is encoded.
  package enum Encoding: String, Sendable {
    /// A JPEG of 8 bits with one or three components.
    case jpeg
    /// JPEG XL (DNG 1.7).
    case jpegXL
    /// Not an image that is known here: lossless JPEG, HEVC, or bytes that make no sense.
    case other
  }

  /// Its place in the container.
  package enum Place: String, Sendable {
    /// A directory in the TIFF's chain.
    case directory
    /// A directory that another one points to (`SubIFDs`).
    case subdirectory
    /// Panasonic's tag `JpgFromRaw`.
    case jpgFromRaw
    /// The maker's notes.
    case makerNote
    /// The file's own header (RAF).
    case header
    /// A box or track (CR3).
    case box
    /// The EXIF data of another preview.
    case exif
  }

  /// Its bytes in the file. They may reach beyond the end of a truncated file.
  package var range: Range<Int>
  package var place: Place
  package var encoding = Encoding.other
  /// Its width in pixels, as stored; 0 if that is not known.
  package var width = 0
  /// Its height in pixels, as stored; 0 if that is not known.
  package var height = 0
  /// The part that shows the image, if the file states that black borders surround it.
  package var visible: VisiblePart?
  /// The size of its visible part: without borders, as stored.
  package var shownSize: (width: Int, height: Int) { visible.map { ($0.width, $0.height) } ?? (width, height) }
  /// Whether its first byte, which Minolta's cameras overwrite, has to be read as 0xFF.
  package var lacksFirstByte = false
}

/// The part of a preview within black borders, in its pixels.
package struct VisiblePart: Sendable, Equatable {
  package var x: Int
  package var y: Int
  package var width: Int
  package var height: Int
}

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

/// Finds the images embedded in a RAW file, from few of its bytes.
///
/// Use it like this: call `next()`, read the bytes that it requests, add them, and call it again. It requests the first
/// 64 KiB, in which most files have all of their directories, and then a few KiB at a time, forwards if the file's
/// layout permits that. All positions in the file are untrusted: ranges are checked, counts and rounds are bounded.
package struct RAWReader: Sendable {
  /// The outcome of a walk through the bytes so far.
  package enum Step: Sendable, Equatable {
    /// These bytes have to be read; fewer only at the end of the file.
    case read(Range<Int>)
    /// The file is not RAW: an ordinary TIFF, a video.
    case notRAW
    case found(RAWFile)
  }

  /// The length of the first read in bytes.
  package static let firstLength = 64 << 10
  /// The most reads. A real file takes fewer than 20.
  static let mostReads = 64

  package private(set) var known: KnownBytes
  private var reads = 0

  /// `known` are the bytes that have been read already.
  package init(_ known: KnownBytes = KnownBytes()) { self.known = known }

  /// Adds the bytes of a range.
  package mutating func add(_ bytes: [UInt8], of range: Range<Int>) {
    known.add(bytes, of: range)
    reads += 1
  }

  /// Walks through the bytes so far.
  package func next() -> Step {
    if known.isEmpty { return .read(0..<Self.firstLength) }
    var walk = RAWWalk(known)
    do throws(MissingBytes) {
      return try walk.run().map { .found($0) } ?? .notRAW
    } catch {
      // A file that leads back and forth is read no further.
      guard reads < Self.mostReads else { return walk.isRAW ? .found(walk.file) : .notRAW }
      return .read(error.range)
    }
  }
}
