/// The largest and the mean difference of the samples of one image from those of another of the same size. Here, because
/// this module is optimised, and those of the tests are not.
func difference(of samples: [UInt8], from others: [UInt8]) -> (most: Int, mean: Double) {
  guard samples.count == others.count else { return (255, 255) }
  var (most, sum) = (0, 0)
  for index in samples.indices {
    let difference = abs(Int(samples[index]) - Int(others[index]))
    most = max(most, difference)
    sum += difference
  }
  return (most, Double(sum) / Double(max(1, samples.count)))
}
