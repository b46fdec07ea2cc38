import Foundation
import Glibc
import ThumbnailCore

/// The libraries that the Python wheel installs beside the program, for machines that have none.
///
/// The loader finds them by the program's RPATH. They find their modules and data by environment variables, which
/// helpers inherit.
enum BundledLibraries {
  /// The folder beside the executable.
  private static let folderName = "libraries"
  /// What fits these libraries alone, by its path in the folder. There are no modules of GIO: without this, GIO would
  /// load the machine's.
  private static let modules = [
    "VIPSHOME": "", "MAGICK_CODER_MODULE_PATH": "coders", "GDK_PIXBUF_MODULE_FILE": "loaders.cache",
    "GIO_MODULE_DIR": "gio",
  ]
  /// Settings and fonts, for a machine that lacks the file.
  private static let settings = [
    (variable: "MAGICK_CONFIGURE_PATH", path: "magick", unless: "/etc/ImageMagick-6/policy.xml"),
    (variable: "FONTCONFIG_PATH", path: "fonts", unless: "/etc/fonts/fonts.conf"),
  ]
  /// The certificate authorities of Debian, for which the libraries are built; of Fedora, openSUSE and Arch.
  private static let certificates = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
  ]

  /// The folder; nil if there is none, or if the loader has taken no library from it: any other folder of this name
  /// is not ours.
  static let folder: String? = {
    guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else { return nil }
    let folder = URL(fileURLWithPath: program).deletingLastPathComponent().appendingPathComponent(folderName).path
    guard access(folder, F_OK) == 0 else { return nil }
    return KernelFile.text("/proc/self/maps")?.contains(" \(folder)/") == true ? folder : nil
  }()

  /// The file of certificate authorities, where libcurl's own path may not exist.
  static var certificateAuthorities: String? {
    folder == nil ? nil : certificates.first { access($0, R_OK) == 0 }
  }

  /// Sets the variables. To be called before a second thread starts.
  static func announce() {
    guard let folder else { return }
    for (variable, path) in modules { setenv(variable, "\(folder)/\(path)", 1) }
    for (variable, path, file) in settings where access(file, F_OK) != 0 { setenv(variable, "\(folder)/\(path)", 0) }
  }
}
