import ImageCodec

/// What a decode plan was made for, with which another process makes the same one.
package struct PlanTerms: Equatable, Sendable {
  /// What the plan takes, in bytes.
  package var memoryBudget: Int
  /// See `DecodePlan.make`.
  package var isTolerant = false
  /// See `DecodePlan.make`.
  package var mayReadCoefficients = true
  /// See `DecodePlan.make`.
  package var isBodyWhole = true
  /// Whether the preview in the file is read instead of the image.
  package var readsPreview = false

  package init(
    memoryBudget: Int, isTolerant: Bool = false, mayReadCoefficients: Bool = true, isBodyWhole: Bool = true,
    readsPreview: Bool = false
  ) {
    (self.memoryBudget, self.isTolerant, self.isBodyWhole) = (memoryBudget, isTolerant, isBodyWhole)
    (self.mayReadCoefficients, self.readsPreview) = (mayReadCoefficients, readsPreview)
  }
}

extension PlanTerms: HelperCoded {
  func write(to message: inout MessageWriter) {
    message.add(memoryBudget)
    for flag in [isTolerant, mayReadCoefficients, isBodyWhole, readsPreview] { message.add(flag) }
  }

  init(from message: inout MessageReader) throws(HelperFailure) {
    self.init(
      memoryBudget: try message.number(), isTolerant: try message.flag(), mayReadCoefficients: try message.flag(),
      isBodyWhole: try message.flag(), readsPreview: try message.flag())
  }
}
