/// Why a container could not be read.
package enum HEIFError: Error, Sendable, Equatable {
  /// A box, a table or an item ends before its content does.
  case truncated(String)
  /// The tables contradict each other or the standard (ISO/IEC 23008-12).
  case damaged(String)
  /// A table has more entries than any image needs.
  case tooMany(String)
  /// A feature of the standard that this reader does not know: "an overlay".
  case unsupported(String)
}
