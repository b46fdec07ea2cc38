// swift-tools-version: 6.2
import PackageDescription

// Three programs that use the library: each is one file, and its own product.
let package = Package(
  name: "Examples",
  dependencies: [.package(name: "thumbnailer", path: "..")],
  targets: ["thumbnail", "folder", "grid"].map { name in
    .executableTarget(
      name: name,
      dependencies: [.product(name: "Thumbnailer", package: "thumbnailer")],
      path: name)
  },
  swiftLanguageModes: [.v6]
)
