import Foundation

extension Duration {
  /// The duration in milliseconds.
  var milliseconds: Double { seconds * 1000 }
}

extension Double {
  /// The number rounded to this many decimal places.
  func rounded(toPlaces places: Int) -> Double {
    let factor = pow(10, Double(places))
    return (self * factor).rounded() / factor
  }
}
