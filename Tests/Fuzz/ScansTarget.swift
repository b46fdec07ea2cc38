/// What finds the scans of a JPEG in its bytes.
func fuzzScans(_ input: FuzzInput) {
  let counted = try? JPEGScans.count(in: .memory(input.bytes))
  let inFile = try? JPEGScans.count(in: input.asFile())
  require(counted?.scans == inFile?.scans && counted?.firstScanBytes == inFile?.firstScanBytes, "in a file it differs")
  require((counted?.scans ?? 0) <= JPEGScans.most + 1, "more scans were counted than asked for")
  require((counted?.firstScanBytes ?? 0) <= input.bytes.count, "a scan longer than the file")
}
