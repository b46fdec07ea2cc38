import ThumbnailCore

/// What a run works on, settled before anything is written: its inputs, and the names of their thumbnails.
struct ConversionPlan: Sendable {
  let options: FolderConverter.Options
  let list: InputList
  let names: OutputNames
  let claims: NameResolution
  /// Changes with everything that affects the thumbnails: see `Options.token`.
  private let token: String

  /// Finds the inputs and resolves name collisions. Blocks.
  init(_ options: FolderConverter.Options, cancelled: CancellationFlag) throws(ConversionError) {
    self.options = options
    var finder = InputFinder(options, cancelled: cancelled)
    var list = try finder.run()
    if options.pairing == .preferJPEG { list.pairWithJPEGs() }
    names = OutputNames(options)
    if names.template.usesDate { list.readDates(cancelled: cancelled) }
    claims = try NameResolution(names, &list, cancelled: cancelled)
    self.list = list
    token = options.token
  }

  /// The number of results: inputs, and what could not be listed.
  var count: Int { list.count + list.problems.count }

  /// The token that a current entry of this input has in the index.
  func token(of index: Int, isDamaged: Bool) -> String {
    IndexEntry.token(token, isDamaged: isDamaged, isToldApart: list.isToldApart(at: index))
  }

  /// The result of an input.
  func result(
    of index: Int, _ status: ConversionResult.Status, outputs: [ConversionOutput] = [],
    failure: ConversionFailure? = nil, plan: String? = nil, preview: UsedPreview? = nil,
    duration: Duration = .zero, replaced: [RawPath] = []
  ) -> ConversionResult {
    ConversionResult(
      index: index, source: list.path(at: index), status: status, outputs: outputs, failure: failure, plan: plan,
      preview: preview, duration: duration, isToldApart: !outputs.isEmpty && list.isToldApart(at: index),
      replaced: replaced)
  }
}
