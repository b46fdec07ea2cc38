// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "thumbnailer",
  products: [
    .library(name: "Thumbnailer", targets: ["Thumbnailer"]),
    .executable(name: "thumbs", targets: ["thumbs"]),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
    .systemLibrary(name: "CMalloc"),
    .systemLibrary(name: "CSandbox"),
    .systemLibrary(name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),
    .target(
      name: "Thumbnailer",
      dependencies: [
        "CCurl",
        "CGLib",
        "CSandbox",
        "CVips",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "thumbs",
      dependencies: [
        "CMalloc", "Thumbnailer",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict
    ),
    .target(name: "TestOrigin", path: "Tests/TestOrigin", swiftSettings: strict),
    .testTarget(
      name: "ThumbnailerTests",
      dependencies: [
        "Thumbnailer", "TestOrigin", "CVips", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict
    ),
    .testTarget(name: "ThumbsTests", dependencies: ["thumbs", "TestOrigin"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

var strict: [SwiftSetting] {
  [.enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault")]
}
