extension Variant {
  /// What is wrong with the variant, as a message that says what to do; nil when it is valid.
  package var problem: String? {
    if !size.isValidThumbnailSize {
      return
        "a thumbnail of \(size) cannot be made: each side must be from 1 to \(PixelSize.longestThumbnailSide) pixels"
    }
    if !(1...100).contains(quality) { return "quality \(quality) cannot be used: it must be from 1 to 100" }
    if let effort, !(0...9).contains(effort) { return "effort \(effort) cannot be used: it must be from 0 to 9" }
    return processor.flatMap { ThumbnailProcessor.problem($0) }
  }
}
