package import ThumbnailCore

/// What was made for one variant, or why nothing was.
package struct Rendered<Product> {
  /// The requested variant.
  package let variant: Variant
  /// The product, or the error.
  package let result: Result<Product, CodecError>

  package init(variant: Variant, result: Result<Product, CodecError>) {
    self.variant = variant
    self.result = result
  }

  /// Whether there is nothing because the image is damaged.
  package var isOfDamagedImage: Bool { if case .failure(let error) = result { error.isDamage } else { false } }
}

extension Rendered: Sendable where Product: Sendable {}

/// The thumbnail of one variant, or why there is none.
package typealias RenderedVariant = Rendered<Thumbnail>
