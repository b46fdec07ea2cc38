/// The digests of FIPS 180-4's examples.
@Suite(.timeLimit(.minutes(5))) struct SHA256Tests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func theStandardsExamples(text: String, digest: String) {
    #expect(hex(SHA256.hash(text.utf8)) == digest)
  }

  @Test func piecesHashAsTheWhole() {
    let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var pieces = SHA256()
    pieces.update(bytes[..<1])
    pieces.update(bytes[1..<64])
    pieces.update([] as [UInt8])
    pieces.update(AnySequence(bytes[64...]))
    #expect(pieces.finalize() == SHA256.hash(bytes))
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
