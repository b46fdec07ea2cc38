// swift-tools-version: 6.2
import PackageDescription

// Programs that use the library: each is one file, and its own product.
let thumbnailer = Target.Dependency.product(name: "Thumbnailer", package: "thumbnailer")
let others: [String: Target.Dependency] = [
  "folder": .product(name: "FolderConversion", package: "thumbnailer"),
  "grid": .product(name: "PhotoSources", package: "thumbnailer"),
  "metrics": .product(name: "Metrics", package: "swift-metrics"),
  "traces": .product(name: "Tracing", package: "swift-distributed-tracing"),
]
let package = Package(
  name: "Examples",
  dependencies: [
    .package(name: "thumbnailer", path: ".."),
    .package(url: "https://github.com/apple/swift-distributed-tracing", .upToNextMinor(from: "1.7.3")),
    .package(url: "https://github.com/apple/swift-metrics", .upToNextMinor(from: "2.13.0")),
  ],
  targets: ["thumbnail", "folder", "grid", "metrics", "traces"].map { name in
    .executableTarget(name: name, dependencies: [thumbnailer] + [others[name]].compactMap(\.self), path: name)
  },
  swiftLanguageModes: [.v6]
)
