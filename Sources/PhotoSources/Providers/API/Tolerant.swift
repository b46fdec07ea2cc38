/// An optional field that decodes leniently: a value of an unexpected type counts as missing.
@propertyWrapper
struct Tolerant<Value: Decodable & Sendable>: Decodable, Sendable {
  var wrappedValue: Value?

  init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  init(from decoder: any Decoder) { wrappedValue = try? Value(from: decoder) }
}

extension KeyedDecodingContainer {
  /// Called by synthesised code. The key may be missing.
  func decode<Value>(_ type: Tolerant<Value>.Type, forKey key: Key) throws -> Tolerant<Value> {
    try decodeIfPresent(type, forKey: key) ?? Tolerant(wrappedValue: nil)
  }
}
