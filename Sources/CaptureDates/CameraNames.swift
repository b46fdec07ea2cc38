/// The cameras of many images: each name once, so that two bytes an image suffice.
package struct CameraNames: Sendable {
  /// More than photographers have; those of files beyond are not kept.
  private static let most = 4096

  /// The names by their numbers, of which 0 stands for none.
  package private(set) var names: [String]

  package init(_ names: [String] = []) { self.names = [""] + names.prefix(Self.most - 1) }

  /// The number of a name, which is added.
  package mutating func number(of name: String?) -> UInt16 {
    if let known = names.firstIndex(of: name ?? "") { return UInt16(known) }
    guard let name, names.count < Self.most else { return 0 }
    names.append(name)
    return UInt16(names.count - 1)
  }
}
