import DecodeSandbox
import ThumbnailCore
import Thumbnailer

/// The formats that are read and written, and the confinement of helpers.
extension Diagnostics {
  /// The support for a format, found by a trial with a tiny image: that libvips has the operation does not mean that the
  /// library behind it works.
  struct FormatSupport: Sendable {
    let format: ImageFormat
    /// The process that reads it: `process`, `helper`, or `none`.
    var reader = "none"
    /// The reason why it cannot be read; nil if it can, or if no helper is configured for it.
    var readingProblem: String?
    var isWritten = false
    /// The reason why it cannot be written; nil if it can, or if no thumbnails have it.
    var writingProblem: String?
  }

  mutating func addFormats(_ configuration: ThumbnailPipeline.Configuration, _ cancellation: CancellationFlag) {
    let isolation = configuration.isolation
    let helpers = isolation.isInProcess ? nil : HelperPool(isolation)
    let formats = ImageFormat.allCases.map { format in
      var support = FormatSupport(format: format)
      if cancellation.isSet { return support }
      if format.isReadInProcess || isolation.admitsUnsafe(isUserFile: true) {
        support.readingProblem = FormatTrial.reading(format, in: helpers).map { "\($0)" }
        if support.readingProblem == nil { support.reader = helpers == nil ? "process" : "helper" }
      }
      if OutputFormat(rawValue: format.rawValue) != nil {
        support.writingProblem = FormatTrial.writing(format).map { "\($0)" }
        support.isWritten = support.writingProblem == nil
      }
      return support
    }
    func names(_ isMeant: (FormatSupport) -> Bool) -> String {
      let names = formats.filter(isMeant).map(\.format.displayName)
      return names.isEmpty ? "nothing" : names.joined(separator: ", ")
    }
    var lines = [
      "read in process:  " + names { $0.reader == "process" }, "read in a helper: " + names { $0.reader == "helper" },
      "not read:         " + names { $0.reader == "none" }, "written:          " + names { $0.isWritten },
    ]
    add(
      "formats",
      formats.map { support -> JSONObject in
        [
          "format": support.format.rawValue, "reader": support.reader, "readingProblem": support.readingProblem,
          "written": support.isWritten, "writingProblem": support.writingProblem,
        ]
      })
    check(formats)
    if let helpers { add(helpers, &lines) }
    paragraphs.append(lines)
  }

  /// A format that every pipeline needs is a problem if it is missing, the others are remarks.
  mutating func check(_ formats: [FormatSupport]) {
    for support in formats {
      let format = support.format
      for (reason, done, needed) in [
        (support.readingProblem, "read", [.jpeg, .png, .webp, .gif, .tiff] as [ImageFormat]),
        (support.writingProblem, "written", [.jpeg, .png, .webp]),
      ] {
        guard let reason else { continue }
        add(
          needed.contains(format) ? .problem : .remark,
          "\(format.displayName) cannot be \(done): \(reason); try apt install \(Self.package(format))")
      }
    }
  }

  /// The packages with the support for a format on Debian and Ubuntu.
  private static func package(_ format: ImageFormat) -> String {
    switch format {
    case .heif: "libheif-plugin-libde265, or libde265-0 on older systems"
    case .avif: "libheif-plugin-aomdec libheif-plugin-aomenc, or libaom3 on older systems"
    case .svg: "librsvg2-2"
    case .pdf: "libpoppler-glib8"
    case .jpeg2000: "libopenjp2-7"
    case .openEXR: "libopenexr-dev"
    case .bmp: "libmagickcore-6.q16-6, or libmagickcore-7.q16-10 on newer systems"
    default: "libvips-dev"
    }
  }

  /// The program that decodes, and its confinement, unless no helper can be started.
  private mutating func add(_ helpers: HelperPool, _ lines: inout [String]) {
    lines.append("helper:           \(helpers.program)")
    add("helper", helpers.program)
    guard let gaps = try? helpers.gaps() else { return }
    var (walls, confinement) = ([String](), JSONObject())
    for part in ConfinementGap.Part.allCases {
      let (name, advice) =
        switch part {
        case .systemCalls:
          ("system calls (seccomp)", "use a kernel of version 4.14 or newer with CONFIG_SECCOMP_FILTER")
        case .files:
          ("files (Landlock)", "use a kernel of version 5.13 or newer, with landlock among its security modules (lsm=)")
        case .namespaces:
          (
            "namespaces",
            "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone)"
          )
        }
      let gap = gaps.first { $0.part == part }
      confinement.add(part.rawValue, gap == nil)
      if let gap { add(.remark, "\(gap): \(advice)") } else { walls.append(name) }
    }
    lines.append("helpers confined: " + (walls.isEmpty ? "by nothing" : walls.joined(separator: ", ")))
    add("confinement", confinement)
  }
}
