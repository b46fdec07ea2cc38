// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who builds the library builds its measurements.
let package = Package(
  name: "CacheBenchmark",
  dependencies: [.package(name: "thumbnailer", path: "../..")],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .executableTarget(
      name: "CacheBenchmark",
      dependencies: [
        "CSQLite", .product(name: "ThumbnailCache", package: "thumbnailer"),
        .product(name: "Thumbnailer", package: "thumbnailer"),
      ],
      swiftSettings: [.enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault")]
    ),
  ],
  swiftLanguageModes: [.v6]
)
