// swift-tools-version: 6.2
import PackageDescription

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
func nio(_ names: String...) -> [Target.Dependency] { names.map { .product(name: "NIO\($0)", package: "swift-nio") } }

let package = Package(
  name: "thumbnailer",
  products: [
    .library(name: "Thumbnailer", targets: ["Thumbnailer"]),
    .library(name: "PhotoSources", targets: ["PhotoSources"]),
    .library(name: "FolderConversion", targets: ["FolderConversion"]),
    .executable(name: "thumbs", targets: ["thumbs"]),
    .executable(name: "thumbs-decode", targets: ["thumbs-decode"]),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", .upToNextMinor(from: "7.10.0")),
    .package(url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
    .package(url: "https://github.com/apple/swift-collections", .upToNextMinor(from: "1.6.0")),
    .package(url: "https://github.com/apple/swift-log", .upToNextMinor(from: "1.16.2")),
    .package(url: "https://github.com/apple/swift-nio", .upToNextMinor(from: "2.101.2")),
  ],
  targets: [
    // What pkg-config says of these without it would have the program linked to them: see CLazyLibraries.
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CDav1d", providers: [.apt(["libdav1d-dev"])]),
    .systemLibrary(name: "CDe265", providers: [.apt(["libde265-dev"])]),
    .systemLibrary(name: "CGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
    .systemLibrary(name: "CISAL", pkgConfig: "libisal", providers: [.apt(["libisal-dev"])]),
    .systemLibrary(name: "CJPEG", pkgConfig: "libjpeg", providers: [.apt(["libjpeg-dev"])]),
    .systemLibrary(name: "CLibC"),
    .systemLibrary(name: "CSandbox"),
    .systemLibrary(name: "CTIFF", providers: [.apt(["libtiff-dev"])]),
    .systemLibrary(name: "CVectors"),
    .systemLibrary(name: "CVips", pkgConfig: "glib-2.0", providers: [.apt(["libvips-dev"])]),
    .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
    .target(name: "CLazyLibraries"),
    .target(name: "HTTPSemantics"),
    .target(name: "ThumbnailCore", dependencies: ["CGLib", "CLibC", "HTTPSemantics", deque, logging]),
    .target(
      name: "HTTPTransport", dependencies: ["CCurl", "CLazyLibraries", "HTTPSemantics", "ThumbnailCore"]
    ),
    .target(name: "HEIFContainer", dependencies: ["ThumbnailCore"], swiftSettings: optimised),
    .target(name: "JPEGCoefficients", dependencies: ["ThumbnailCore"], swiftSettings: optimised),
    .target(name: "RAWPreviews"),
    .target(name: "CaptureDates", dependencies: ["HEIFContainer", "RAWPreviews", "ThumbnailCore"]),
    .target(
      name: "ImageCodec",
      dependencies: [
        "CDav1d", "CDe265", "CISAL", "CJPEG", "CLazyLibraries", "CTIFF", "CVectors", "CVips", "CWebP",
        "HEIFContainer", "JPEGCoefficients", "RAWPreviews", "ThumbnailCore",
      ],
      swiftSettings: optimised
    ),
    .target(
      name: "DecodeSandbox",
      dependencies: ["CLazyLibraries", "CSandbox", "ImageCodec", "JPEGCoefficients", "ThumbnailCore"]
    ),
    .target(name: "ThumbnailCache", dependencies: ["HTTPSemantics", "ThumbnailCore", grdb]),
    // With the helper that decodes: so SwiftPM builds it beside each program that uses the library.
    .target(
      name: "Thumbnailer",
      dependencies: [
        "DecodeSandbox", "HTTPSemantics", "HTTPTransport", "ImageCodec", "JPEGCoefficients", "ThumbnailCache",
        "ThumbnailCore", "thumbs-decode",
      ]
    ),
    // The stylesheet of pages that are written to files, embedded.
    .target(name: "CLook", exclude: ["sheet.css"]),
    .target(name: "Exports", dependencies: ["CaptureDates", "CLook", "ThumbnailCore"]),
    .target(
      name: "PhotoSources",
      dependencies: [
        "CLibC", "CaptureDates", "Exports", "HTTPSemantics", "HTTPTransport", "ThumbnailCache", "ThumbnailCore",
        "Thumbnailer",
      ]
    ),
    .target(
      name: "FolderConversion",
      dependencies: [
        "CaptureDates", "CGalleryPage", "CGLib", "CISAL", "CLibC", "Exports", "ThumbnailCore", "Thumbnailer",
      ]
    ),
    .target(
      name: "ThumbnailWorker",
      dependencies: [
        "Exports", "HTTPSemantics", "HTTPTransport", "ThumbnailCore", "Thumbnailer",
      ]
    ),
    .target(name: "HTTPServer", dependencies: ["HTTPSemantics"] + nio("Core", "Posix", "HTTP1")),
    // The files of the gallery's page, embedded.
    .target(name: "CGalleryPage", exclude: ["Page"]),
    .target(
      name: "ThumbnailServer",
      dependencies: [
        "CaptureDates", "CGalleryPage", "CISAL", "HTTPSemantics", "HTTPServer", "HTTPTransport", "PhotoSources",
        "ThumbnailCache", "ThumbnailCore", "Thumbnailer",
      ] + nio("Core", "FoundationCompat", "HTTP1", "Posix")
    ),
    .executableTarget(
      name: "thumbs",
      dependencies: [
        "CaptureDates", "CLibC", "DecodeSandbox", "Exports", "FolderConversion", "HTTPSemantics", "HTTPServer",
        "HTTPTransport", "ImageCodec", "PhotoSources", "ThumbnailCache", "ThumbnailCore", "Thumbnailer",
        "ThumbnailServer", "ThumbnailWorker", argumentParser, logging,
      ] + nio("Core"),
      // What it does is to read options and print rows: half of its compiler's time was optimisation.
      swiftSettings: strict + [.unsafeFlags(["-Onone"])]
    ),
    .executableTarget(
      name: "scroll-player",
      dependencies: [
        "PhotoSources", "ThumbnailCore", "Thumbnailer", argumentParser,
      ],
      path: "Benchmarks/ScrollPlayer"
    ),
    .executableTarget(name: "thumbs-decode", dependencies: ["DecodeSandbox"]),
    .target(name: "TestOrigin", dependencies: ["CLibC"], path: "Tests/TestOrigin"),
    .target(name: "TestSupport", dependencies: ["TestOrigin", "ThumbnailCore"], path: "Tests/TestSupport"),
    .target(name: "TransportTestSupport", dependencies: ["HTTPTransport"], path: "Tests/TransportTestSupport"),
    // The tests call more of libvips than the program does.
    .target(
      name: "CodecTestSupport", dependencies: ["CVips", "DecodeSandbox", "ImageCodec", "TestSupport", "ThumbnailCore"],
      path: "Tests/CodecTestSupport", swiftSettings: optimised,
      linkerSettings: [.linkedLibrary("vips"), .linkedLibrary("gobject-2.0")]
    ),
    // What a broken decoder may try, and the helper that tries it: see docs/security.md.
    .systemLibrary(name: "CAttack", path: "Tests/CAttack"),
    .target(
      name: "Attacks", dependencies: ["CAttack", "DecodeSandbox", "ImageCodec", "ThumbnailCore"], path: "Tests/Attacks"
    ),
    .executableTarget(
      name: "AttackHelper",
      dependencies: [
        "Attacks", "CAttack", "DecodeSandbox", "ImageCodec", "ThumbnailCore",
      ],
      path: "Tests/AttackHelper"
    ),
    .target(
      name: "PipelineTestSupport",
      dependencies: [
        "HTTPSemantics", "HTTPTransport", "TestSupport", "ThumbnailCore", "Thumbnailer", "TransportTestSupport",
        grdb,
      ],
      path: "Tests/PipelineTestSupport"
    ),
    .testTarget(name: "HTTPSemanticsTests", dependencies: ["HTTPSemantics"]),
    .testTarget(name: "ThumbnailCoreTests", dependencies: ["HTTPSemantics", "TestSupport", "ThumbnailCore"]),
    .testTarget(
      name: "HTTPTransportTests",
      dependencies: [
        "HTTPSemantics", "HTTPTransport", "TestOrigin", "TestSupport", "ThumbnailCache", "ThumbnailCore",
        "Thumbnailer", "TransportTestSupport",
      ]
    ),
    .testTarget(name: "HEIFContainerTests", dependencies: ["HEIFContainer", "ThumbnailCore"]),
    .testTarget(name: "JPEGCoefficientsTests", dependencies: ["JPEGCoefficients", "TestSupport", "ThumbnailCore"]),
    .testTarget(name: "RAWPreviewsTests", dependencies: ["RAWPreviews", "TestSupport"]),
    .testTarget(name: "CaptureDatesTests", dependencies: ["CaptureDates", "TestSupport", "ThumbnailCore"]),
    .testTarget(
      name: "ImageCodecTests",
      dependencies: [
        "CodecTestSupport", "HEIFContainer", "ImageCodec", "JPEGCoefficients", "RAWPreviews", "TestSupport",
        "ThumbnailCore",
      ]
    ),
    .testTarget(
      name: "DecodeSandboxTests",
      dependencies: [
        "AttackHelper", "Attacks", "CodecTestSupport", "CSandbox", "DecodeSandbox", "ImageCodec", "TestSupport",
        "ThumbnailCore", "thumbs-decode",
      ]
    ),
    .testTarget(
      name: "ThumbnailCacheTests",
      dependencies: [
        "HTTPSemantics", "TestOrigin", "TestSupport", "ThumbnailCache", "ThumbnailCore", "Thumbnailer", grdb,
      ]
    ),
    .testTarget(
      name: "ThumbnailerTests",
      dependencies: [
        "CodecTestSupport", "DecodeSandbox", "HTTPSemantics", "HTTPTransport", "ImageCodec", "JPEGCoefficients",
        "PipelineTestSupport", "scroll-player", "TestSupport", "ThumbnailCache", "ThumbnailCore", "Thumbnailer",
      ]
    ),
    .testTarget(name: "ExportsTests", dependencies: ["Exports", "TestSupport", "ThumbnailCore"]),
    .testTarget(
      name: "PhotoSourcesTests",
      dependencies: [
        "CaptureDates", "CodecTestSupport", "DecodeSandbox", "HTTPSemantics", "HTTPTransport", "PhotoSources",
        "PipelineTestSupport", "TestSupport", "ThumbnailCache", "ThumbnailCore", "Thumbnailer",
        "TransportTestSupport",
      ]
    ),
    .testTarget(
      name: "FolderConversionTests",
      dependencies: [
        "Exports", "FolderConversion", "TestSupport", "ThumbnailCore", "Thumbnailer",
      ]
    ),
    .testTarget(name: "ThumbnailWorkerTests", dependencies: ["TestSupport", "ThumbnailCore", "ThumbnailWorker"]),
    .testTarget(
      name: "HTTPServerTests",
      dependencies: [
        "HTTPSemantics", "HTTPServer", "TestOrigin", "TestSupport",
      ] + nio("Core", "Embedded", "HTTP1")
    ),
    .testTarget(
      name: "ThumbnailServerTests",
      dependencies: [
        "CaptureDates", "HTTPServer", "HTTPTransport", "PhotoSources", "PipelineTestSupport", "TestOrigin",
        "TestSupport", "ThumbnailCore", "Thumbnailer", "ThumbnailServer",
      ] + nio("Core", "HTTP1")
    ),
    .testTarget(
      name: "ExampleTests", dependencies: ["HTTPTransport", "PhotoSources", "TestSupport", "Thumbnailer"]
    ),
    .testTarget(
      name: "ThumbsTests",
      dependencies: [
        "AttackHelper", "Attacks", "CodecTestSupport", "DecodeSandbox", "FolderConversion", "ImageCodec",
        "PipelineTestSupport", "TestSupport", "ThumbnailCache", "ThumbnailCore", "Thumbnailer", "thumbs",
        argumentParser,
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)

// Built for the fuzzer alone, by Scripts/fuzz, with libFuzzer's own flags.
if Context.environment["THUMBNAILER_FUZZ"] != nil {
  // A program of its own cannot be linked with the fuzzer, which brings one.
  for target in package.targets where target.name == "Thumbnailer" {
    target.dependencies.removeAll { if case .byNameItem("thumbs-decode", _) = $0 { true } else { false } }
  }
  package.targets += [
    .systemLibrary(name: "Reference", path: "Tests/Fuzz/Reference"),
    .target(
      name: "FuzzTargets",
      dependencies: [
        "CVips", "DecodeSandbox", "Exports", "FolderConversion", grdb,
        "HEIFContainer", "HTTPSemantics", "HTTPTransport", "ImageCodec", "JPEGCoefficients", "PhotoSources",
        "RAWPreviews", "Reference", "ThumbnailCache", "ThumbnailCore", "ThumbnailWorker",
      ],
      path: "Tests/Fuzz",
      exclude: ["Reference", "Seeds", "headers.dict", "jpeg.dict", "png.dict", "text.dict"]
    ),
  ]
}

for target in package.targets where target.type != .system && target.swiftSettings == nil {
  target.swiftSettings = strict
}

var strict: [SwiftSetting] {
  [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
  ]
}

// These modules go over every pixel: without optimisation a picture takes seconds, in a debug build of whoever uses the
// library, too. Asked of the frontend, so that it holds in the gate's build as well, which is one without optimisation;
// and file by file in a debug build, so that a change compiles one of them.
var optimised: [SwiftSetting] {
  strict + [.unsafeFlags(["-Xfrontend", "-O"])]
}
