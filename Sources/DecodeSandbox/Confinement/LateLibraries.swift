import CLazyLibraries
import CSandbox
import Glibc
import ImageCodec
import ThumbnailCore

/// Loads the libraries that decoders would load during an image, when no library can be loaded any more.
enum LateLibraries {
  /// The needed coders of ImageMagick. Otherwise it would load all hundred of them.
  private static let coders = ["BMP", "DIB"]
  /// Encodings of XML that libxml2 leaves to the C library.
  private static let encodings = ["CP1251", "CP1252", "ISO-8859-2", "ISO-8859-15"]

  /// Loads the libraries of our own readers. Missing libraries are skipped: the image that needs one fails.
  static func loadDecoders() {
    _ = clazy_load_tiff()
    _ = clazy_load_de265()
    _ = clazy_load_dav1d()
  }

  /// Loads these, and those that libvips' loaders would load. Takes about two milliseconds.
  static func load() {
    loadDecoders()
    let loaded = loadedFiles()
    loadCoders(loaded)
    loadPixbufLoader(loaded)
    loadHEIFPlugins(loaded)
    // Kept open, as the C library unloads an encoding with its last user.
    for encoding in encodings { _ = iconv_open("UTF-8", encoding) }
    // Reads /etc/localtime.
    tzset()
  }

  private static func loadCoders(_ loaded: [String]) {
    typealias Genesis = @convention(c) (UnsafePointer<CChar>?, UInt32) -> Void
    typealias AcquireException = @convention(c) () -> OpaquePointer?
    typealias GetInfo = @convention(c) (UnsafePointer<CChar>, OpaquePointer?) -> OpaquePointer?
    typealias DestroyException = @convention(c) (OpaquePointer?) -> OpaquePointer?
    guard let library = library("libMagickCore", loaded),
      let genesis = dlsym(library, "MagickCoreGenesis"), let acquire = dlsym(library, "AcquireExceptionInfo"),
      let getInfo = dlsym(library, "GetMagickInfo"), let destroy = dlsym(library, "DestroyExceptionInfo")
    else { return }
    unsafeBitCast(genesis, to: Genesis.self)(nil, 0)
    let exception = unsafeBitCast(acquire, to: AcquireException.self)()
    for coder in coders { _ = unsafeBitCast(getInfo, to: GetInfo.self)(coder, exception) }
    _ = unsafeBitCast(destroy, to: DestroyException.self)(exception)
  }

  /// The reader of GIFs embedded in drawings: the readers of PNG and JPEG are part of the library.
  private static func loadPixbufLoader(_ loaded: [String]) {
    typealias Make = @convention(c) (UnsafePointer<CChar>, OpaquePointer?) -> OpaquePointer?
    typealias Write = @convention(c) (OpaquePointer, UnsafePointer<UInt8>, Int, OpaquePointer?) -> Int32
    typealias Close = @convention(c) (OpaquePointer, OpaquePointer?) -> Int32
    guard let library = library("libgdk_pixbuf", loaded),
      let make = dlsym(library, "gdk_pixbuf_loader_new_with_type"),
      let write = dlsym(library, "gdk_pixbuf_loader_write"),
      let close = dlsym(library, "gdk_pixbuf_loader_close"), let loader = unsafeBitCast(make, to: Make.self)("gif", nil)
    else { return }
    // The first bytes load the module. Closing fails, because there are no more; the few bytes of the loader stay.
    let header = Array("GIF89a".utf8)
    _ = unsafeBitCast(write, to: Write.self)(loader, header, header.count, nil)
    _ = unsafeBitCast(close, to: Close.self)(loader, nil)
  }

  /// Since libheif 1.13 its decoders may be plugins.
  private static func loadHEIFPlugins(_ loaded: [String]) {
    // It returns a structure in two registers, the error's number in the first.
    typealias Start = @convention(c) (OpaquePointer?) -> Int
    guard let library = library("libheif", loaded), let start = dlsym(library, "heif_init") else { return }
    _ = unsafeBitCast(start, to: Start.self)(nil)
  }

  /// The paths of the files that are mapped. Read as bytes: a few hundred lines take milliseconds as characters.
  private static func loadedFiles() -> [String] {
    (KernelFile.text("/proc/self/maps") ?? "").utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
      line.firstIndex(of: UInt8(ascii: "/")).flatMap { String(line[$0...]) }
    }
  }

  /// A library of the process, by the beginning of its file's name: its version is in the name.
  private static func library(_ name: String, _ loaded: [String]) -> UnsafeMutableRawPointer? {
    let path = loaded.first { path in
      path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8[$0...].dropFirst().starts(with: name.utf8) } ?? false
    }
    return path.flatMap { dlopen($0, RTLD_LAZY | RTLD_NOLOAD) }
  }
}
