import Foundation

/// What libFuzzer calls with each input. The environment's `FUZZ_TARGET` says which target gets it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  target.run(FuzzInput(bytes: Array(UnsafeBufferPointer(start: start, count: count))))
  return 0
}

/// What can be fuzzed.
private enum Target: String, CaseIterable {
  case prober, reader, scans, png, gif, heif, raw
  case fields, providers, netrc, globs, rows, names, index, helper, lines

  func run(_ input: FuzzInput) {
    switch self {
    case .prober: fuzzProber(input)
    case .reader: fuzzReader(input)
    case .scans: fuzzScans(input)
    case .png: fuzzPNG(input)
    case .gif: fuzzGIF(input)
    case .raw: fuzzRAW(input)
    case .heif: fuzzHEIF(input)
    case .fields: fuzzFields(input)
    case .providers: fuzzProviders(input)
    case .netrc: fuzzNetrc(input)
    case .globs: fuzzGlobs(input)
    case .rows: fuzzRows(input)
    case .names: fuzzNames(input)
    case .index: fuzzIndex(input)
    case .helper: fuzzHelper(input)
    case .lines: fuzzLines(input)
    }
  }
}

private let target: Target = {
  let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
  guard let found = Target(rawValue: name) else {
    failFuzzing("FUZZ_TARGET is \"\(name)\" and must be one of \(Target.allCases.map { $0.rawValue })")
  }
  return found
}()

/// Ends the process so that libFuzzer keeps the input.
func failFuzzing(_ message: String) -> Never {
  FileHandle.standardError.write(Data("fuzz: \(message)\n".utf8))
  abort()
}

/// Ends the process where a property does not hold.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { failFuzzing(message()) }
}
