extension Variant {
  /// A message that says why the variant is invalid and what to do; nil if it is valid.
  package var problem: String? {
    if !size.isValidThumbnailSize {
      return
        "a thumbnail of \(size) cannot be made: each side must be from 1 to \(PixelSize.longestThumbnailSide) pixels"
    }
    if !(1...100).contains(quality) { return "quality \(quality) cannot be used: it must be from 1 to 100" }
    if let effort, !(0...9).contains(effort) { return "effort \(effort) cannot be used: it must be from 0 to 9" }
    return processor.flatMap { ThumbnailProcessor.problem($0) } ?? framing.problem(with: fit)
  }

  /// The size of the largest thumbnail that can be made of it.
  package var largestOutput: PixelSize {
    func longest(_ box: Int, _ zoom: Double, _ least: Int, _ padding: Int) -> Int {
      let side = max(Double(box) * zoom, Double(least)) + Double(padding)
      return Int(min(Double(PixelSize.longestThumbnailSide), (side * max(1, framing.density) + 1).rounded(.up)))
    }
    let framing = framing
    return framing == Framing()
      ? size
      : PixelSize(
        longest(size.width, framing.zoom.x, framing.minimum.width, framing.padding.left + framing.padding.right),
        longest(size.height, framing.zoom.y, framing.minimum.height, framing.padding.top + framing.padding.bottom))
  }

  /// Whether the image's content decides the crop.
  package var searchesContent: Bool {
    [.attention, .entropy].contains(gravity) || framing.crop?.placement.isByContent == true
      || framing.placement?.isByContent == true
  }
}
