// swift-tools-version: 6.2
import PackageDescription

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
    .target(
      name: "HTTPSemantics",
      swiftSettings: strict
    ),
    .target(
      name: "ThumbnailCore",
      dependencies: [
        "CGLib",
        "CLibC",
        "HTTPSemantics",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict
    ),
    .target(
      name: "HTTPTransport",
      dependencies: [
        "CCurl",
        "CLazyLibraries",
        "HTTPSemantics",
        "ThumbnailCore",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict
    ),
    .target(
      name: "HEIFContainer",
      dependencies: ["ThumbnailCore"],
      swiftSettings: optimised
    ),
    .target(
      name: "JPEGCoefficients",
      dependencies: ["ThumbnailCore"],
      swiftSettings: optimised
    ),
    .target(
      name: "RAWPreviews",
      swiftSettings: strict
    ),
    .target(
      name: "CaptureDates",
      dependencies: ["HEIFContainer", "RAWPreviews", "ThumbnailCore"],
      swiftSettings: strict
    ),
    .target(
      name: "ImageCodec",
      dependencies: [
        "CDav1d",
        "CDe265",
        "CISAL",
        "CJPEG",
        "CLazyLibraries",
        "CTIFF",
        "CVectors",
        "CVips",
        "CWebP",
        "HEIFContainer",
        "JPEGCoefficients",
        "RAWPreviews",
        "ThumbnailCore",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: optimised
    ),
    .target(
      name: "DecodeSandbox",
      dependencies: [
        "CLazyLibraries",
        "CSandbox",
        "CVips",
        "ImageCodec",
        "ThumbnailCore",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict
    ),
    .target(
      name: "ThumbnailCache",
      dependencies: [
        .product(name: "GRDB", package: "GRDB.swift"),
        "HTTPSemantics",
        "ThumbnailCore",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict
    ),
    .target(
      name: "Thumbnailer",
      dependencies: [
        "DecodeSandbox",
        "HTTPSemantics",
        "HTTPTransport",
        "ImageCodec",
        "JPEGCoefficients",
        "ThumbnailCache",
        "ThumbnailCore",
        // The helper that decodes: so SwiftPM builds it beside each program that uses the library.
        "thumbs-decode",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict
    ),
    // The stylesheet of pages that are written to files, embedded.
    .target(name: "CLook", exclude: ["sheet.css"]),
    .target(
      name: "Exports",
      dependencies: [
        "CLook",
        "CaptureDates",
        "ThumbnailCore",
      ],
      swiftSettings: strict
    ),
    .target(
      name: "PhotoSources",
      dependencies: [
        "CaptureDates",
        "Exports",
        "HTTPSemantics",
        "HTTPTransport",
        "ThumbnailCache",
        "ThumbnailCore",
        "Thumbnailer",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict
    ),
    .target(
      name: "FolderConversion",
      dependencies: [
        "CGLib",
        "CGalleryPage",
        "CISAL",
        "CLibC",
        "CaptureDates",
        "Exports",
        "ThumbnailCore",
        "Thumbnailer",
      ],
      swiftSettings: strict
    ),
    .target(
      name: "ThumbnailWorker",
      dependencies: [
        "Exports",
        "HTTPSemantics",
        "HTTPTransport",
        "ThumbnailCore",
        "Thumbnailer",
      ],
      swiftSettings: strict
    ),
    .target(
      name: "HTTPServer",
      dependencies: [
        "HTTPSemantics",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      swiftSettings: strict
    ),
    // The files of the gallery's page, embedded.
    .target(name: "CGalleryPage", exclude: ["Page"]),
    .target(
      name: "ThumbnailServer",
      dependencies: [
        "CGalleryPage", "CISAL", "CaptureDates", "HTTPSemantics", "HTTPServer", "HTTPTransport", "PhotoSources",
        "ThumbnailCache", "ThumbnailCore", "Thumbnailer",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "thumbs",
      dependencies: [
        "CLibC", "CaptureDates", "DecodeSandbox", "Exports", "FolderConversion", "HTTPSemantics", "HTTPServer",
        "HTTPTransport", "ImageCodec", "PhotoSources", "ThumbnailCache", "ThumbnailCore", "ThumbnailServer",
        "ThumbnailWorker", "Thumbnailer",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "scroll-player",
      dependencies: [
        "PhotoSources", "ThumbnailCore", "Thumbnailer",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Benchmarks/ScrollPlayer", swiftSettings: strict
    ),
    .executableTarget(name: "thumbs-decode", dependencies: ["DecodeSandbox"], swiftSettings: strict),
    .target(name: "TestOrigin", path: "Tests/TestOrigin", swiftSettings: strict),
    .target(
      name: "TestSupport",
      dependencies: ["TestOrigin", "ThumbnailCore"],
      path: "Tests/TestSupport",
      swiftSettings: strict
    ),
    .target(
      name: "TransportTestSupport",
      dependencies: ["HTTPTransport"],
      path: "Tests/TransportTestSupport",
      swiftSettings: strict
    ),
    .target(
      name: "CodecTestSupport",
      dependencies: ["CVips", "DecodeSandbox", "ImageCodec", "TestOrigin", "TestSupport", "ThumbnailCore"],
      path: "Tests/CodecTestSupport",
      swiftSettings: optimised,
      // The tests call more of it than the program does.
      linkerSettings: [.linkedLibrary("vips"), .linkedLibrary("gobject-2.0")]
    ),
    // What a broken decoder may try, and the helper that tries it: see docs/security.md.
    .systemLibrary(name: "CAttack", path: "Tests/CAttack"),
    .target(
      name: "Attacks", dependencies: ["CAttack", "DecodeSandbox", "ThumbnailCore"], path: "Tests/Attacks",
      swiftSettings: strict
    ),
    .executableTarget(
      name: "AttackHelper", dependencies: ["Attacks", "CAttack", "DecodeSandbox", "ImageCodec", "ThumbnailCore"],
      path: "Tests/AttackHelper", swiftSettings: strict
    ),
    .target(
      name: "PipelineTestSupport",
      dependencies: [
        .product(name: "GRDB", package: "GRDB.swift"), "HTTPSemantics", "HTTPTransport", "TestOrigin", "TestSupport",
        "ThumbnailCore", "Thumbnailer", "TransportTestSupport",
      ],
      path: "Tests/PipelineTestSupport",
      swiftSettings: strict
    ),
    .testTarget(
      name: "HTTPSemanticsTests",
      dependencies: ["HTTPSemantics"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "ThumbnailCoreTests",
      dependencies: ["HTTPSemantics", "TestSupport", "ThumbnailCore"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "HTTPTransportTests",
      dependencies: [
        "HTTPSemantics", "HTTPTransport", "TestOrigin", "TestSupport", "ThumbnailCache", "ThumbnailCore", "Thumbnailer",
        "TransportTestSupport",
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "HEIFContainerTests",
      dependencies: ["HEIFContainer", "ThumbnailCore"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "JPEGCoefficientsTests",
      dependencies: ["JPEGCoefficients", "TestSupport"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "RAWPreviewsTests",
      dependencies: ["RAWPreviews", "TestSupport"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "CaptureDatesTests",
      dependencies: ["CaptureDates", "TestSupport", "ThumbnailCore"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "ImageCodecTests",
      dependencies: [
        "CVips", "CodecTestSupport", "ImageCodec", "JPEGCoefficients", "RAWPreviews", "TestSupport", "ThumbnailCore",
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "DecodeSandboxTests",
      dependencies: [
        "AttackHelper", "Attacks", "CSandbox", "CVips", "CodecTestSupport", "DecodeSandbox", "ImageCodec", "TestOrigin",
        "TestSupport", "ThumbnailCore", "thumbs-decode",
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "ThumbnailCacheTests",
      dependencies: [
        .product(name: "GRDB", package: "GRDB.swift"), "HTTPSemantics", "TestOrigin", "TestSupport", "ThumbnailCache",
        "ThumbnailCore", "Thumbnailer",
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "ThumbnailerTests",
      dependencies: [
        "CodecTestSupport", "DecodeSandbox", "HTTPSemantics", "HTTPTransport", "ImageCodec", "JPEGCoefficients",
        "PipelineTestSupport", "TestOrigin", "TestSupport", "ThumbnailCache", "ThumbnailCore", "Thumbnailer",
        "scroll-player",
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "ExportsTests",
      dependencies: ["Exports", "TestSupport", "ThumbnailCore"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "PhotoSourcesTests",
      dependencies: [
        "CaptureDates", "CodecTestSupport", "DecodeSandbox", "HTTPSemantics", "HTTPTransport", "PhotoSources",
        "PipelineTestSupport",
        "TestOrigin", "TestSupport", "ThumbnailCache", "ThumbnailCore", "Thumbnailer", "TransportTestSupport",
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "FolderConversionTests",
      dependencies: ["Exports", "FolderConversion", "TestSupport", "ThumbnailCore", "Thumbnailer"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "ThumbnailWorkerTests",
      dependencies: [
        "PipelineTestSupport", "TestOrigin", "TestSupport", "ThumbnailCore", "ThumbnailWorker", "Thumbnailer",
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "HTTPServerTests",
      dependencies: [
        "HTTPServer", "TestOrigin", "TestSupport",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "ThumbnailServerTests",
      dependencies: [
        "CGalleryPage", "HTTPServer", "HTTPTransport", "PhotoSources", "PipelineTestSupport", "TestOrigin",
        "TestSupport", "ThumbnailCore", "ThumbnailServer", "Thumbnailer",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "ExampleTests",
      dependencies: [
        "HTTPSemantics", "HTTPTransport", "PhotoSources", "TestOrigin", "TestSupport", "ThumbnailCore", "Thumbnailer",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "ThumbsTests",
      dependencies: [
        "AttackHelper", "Attacks", "CodecTestSupport", "DecodeSandbox", "FolderConversion", "ImageCodec",
        "PipelineTestSupport", "TestOrigin", "TestSupport", "ThumbnailCache", "ThumbnailCore", "Thumbnailer", "thumbs",
      ],
      swiftSettings: strict
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
        "CVips", "DecodeSandbox", "Exports", "FolderConversion", .product(name: "GRDB", package: "GRDB.swift"),
        "HEIFContainer", "HTTPSemantics", "HTTPTransport", "ImageCodec", "JPEGCoefficients", "PhotoSources",
        "RAWPreviews", "Reference", "ThumbnailCache", "ThumbnailCore", "ThumbnailWorker",
      ],
      path: "Tests/Fuzz",
      exclude: ["Reference", "Seeds", "headers.dict", "jpeg.dict", "png.dict", "text.dict"],
      swiftSettings: strict
    ),
  ]
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
