package import ThumbnailCore

/// The result for one variant, or its error.
package struct Rendered<Product> {
  /// The requested variant.
  package let variant: Variant
  /// The product, or the error.
  package let result: Result<Product, CodecError>
  /// How long it took to make the product of the pixels: to encode them.
  package let encoding: Duration

  package init(variant: Variant, result: Result<Product, CodecError>, encoding: Duration = .zero) {
    self.variant = variant
    self.result = result
    self.encoding = encoding
  }

  /// Whether there is nothing because the image is damaged.
  package var isOfDamagedImage: Bool { if case .failure(let error) = result { error.isDamage } else { false } }
}

extension Rendered: Sendable where Product: Sendable {}

/// The thumbnail of one variant, or its error.
package typealias RenderedVariant = Rendered<Thumbnail>
