/// A field that nothing depends on: a value of another type than expected counts as missing, and the rest is read.
@propertyWrapper
struct Tolerant<Value: Decodable & Sendable>: Decodable, Sendable {
  var wrappedValue: Value?

  init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  init(from decoder: any Decoder) { wrappedValue = try? Value(from: decoder) }
}

extension KeyedDecodingContainer {
  /// What synthesised code calls for such a field. It may be missing altogether.
  func decode<Value>(_ type: Tolerant<Value>.Type, forKey key: Key) throws -> Tolerant<Value> {
    try decodeIfPresent(type, forKey: key) ?? Tolerant(wrappedValue: nil)
  }
}
