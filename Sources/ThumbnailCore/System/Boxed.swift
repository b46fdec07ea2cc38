/// An optional value on the heap, so that values which rarely contain it are small and copied in little time.
///
///     @Boxed var heif: HEIFTraits? = nil
@propertyWrapper
package enum Boxed<Value> {
  case none
  indirect case some(Value)

  @inlinable @inline(__always) package init(wrappedValue: Value?) { self = wrappedValue.map(Self.some) ?? .none }

  @inlinable package var wrappedValue: Value? {
    get { if case .some(let value) = self { value } else { nil } }
    set { self = Self(wrappedValue: newValue) }
  }
}

extension Boxed: Sendable where Value: Sendable {}
extension Boxed: Equatable where Value: Equatable {}
