import CSandbox
import Glibc
import ThumbnailCore

/// Landlock: the kernel's list of files that this process may open.
enum FileRules {
  /// Refuses everything but reading at these paths, in this thread and in those that it starts.
  static func enforce(reading paths: [String]) throws(SystemFailure) {
    let version = csandbox_landlock_version()
    guard version > 0 else { throw .last }
    let descriptor = csandbox_landlock_rules(version)
    guard descriptor >= 0 else { throw .last }
    let rules = FileDescriptor(owning: descriptor)
    for path in paths {
      let place = open(path, csandbox_open_path | O_CLOEXEC)
      guard place >= 0 else { continue }
      let file = FileDescriptor(owning: place)
      guard let state = try? FileState(ofOpen: file) else { continue }
      let isFolder = state.kind == .folder
      guard csandbox_landlock_allow_reading(rules.rawValue, file.rawValue, isFolder ? 1 : 0) == 0 else { throw .last }
    }
    guard csandbox_landlock_enforce(rules.rawValue) == 0 else { throw .last }
  }
}

/// The files that decoders open while they work. All others are out of reach, except open ones.
enum ReadableFiles {
  /// Files and folders, each with all below it. Some may not exist.
  static func paths(_ environment: [String: String]) -> [String] {
    let home = environment["HOME"] ?? ""
    func folder(_ variable: String, _ standard: String) -> String { environment[variable] ?? "\(home)/\(standard)" }
    let configuration = folder("XDG_CONFIG_HOME", ".config")
    let data = folder("XDG_DATA_HOME", ".local/share")
    let shared = (environment["XDG_DATA_DIRS"] ?? "/usr/local/share:/usr/share").split(separator: ":")
    var paths = [
      // Text in SVG and PDF: fonts, and fontconfig's settings and caches.
      "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/X11/fonts", "\(data)/fonts", "\(home)/.fonts",
      "/etc/fonts", "/usr/share/fontconfig", "/usr/local/etc/fonts", "\(configuration)/fontconfig",
      "\(home)/.fonts.conf", "\(home)/.fonts.conf.d", "/var/cache/fontconfig",
      folder("XDG_CACHE_HOME", ".cache") + "/fontconfig", "\(home)/.fontconfig",
      // Text in PDF: the character sets of Chinese, Japanese and Korean.
      "/usr/share/poppler",
      // The kinds of files that a drawing embeds.
      "/usr/share/mime",
      // The limits that the machine's owner sets for ImageMagick.
      "/etc/ImageMagick-6", "/etc/ImageMagick-7", "/usr/share/ImageMagick-6", "/usr/share/ImageMagick-7",
      "\(configuration)/ImageMagick",
    ]
    paths += shared.map { "\($0)/fonts" }
    paths += ["FONTCONFIG_FILE", "FONTCONFIG_PATH"].compactMap { environment[$0] }
    paths += (environment["MAGICK_CONFIGURE_PATH"] ?? "").split(separator: ":").map { String($0) }
    return paths.filter { $0.hasPrefix("/") && $0 != "/" }
  }
}
