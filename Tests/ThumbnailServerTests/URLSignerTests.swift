@testable import ThumbnailServer

/// Signed addresses.
@Suite(.timeLimit(.minutes(5))) struct URLSignerTests {
  private static let path = "/thumb/400x300,cover/https%3A%2F%2Fexample.org%2Fa.jpg"
  private static let old = "old:000102030405060708090a0b0c0d0e0f"
  private static let new = "new:f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"

  private static func signer(_ keys: String...) throws -> URLSigner {
    try #require(URLSigner(keys: keys.compactMap { URLSigner.Key(parsing: $0) }))
  }

  /// The HMAC of RFC 4231, test case 2.
  @Test func theDigestIsThatOfTheStandard() {
    let digest = HMAC.sha256(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
    let expected = Hexadecimal.bytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(digest == expected)
  }

  @Test func whatIsSignedIsAccepted() throws {
    let signer = try Self.signer(Self.old)
    try signer.check(signer.sign(Self.path))
    try signer.check(signer.sign(Self.path, expires: 2_000_000_000), now: Date(timeIntervalSince1970: 1_999_999_999))
    try signer.check(signer.sign("/thumb/9/a%26signature%3Db/&signature=/c"))
  }

  @Test func anyOtherByteIsRefused() throws {
    let signer = try Self.signer(Self.old)
    let address = signer.sign(Self.path, expires: 2_000_000_000)
    var bytes = Array(address.utf8)
    for place in bytes.indices {
      let byte = bytes[place]
      bytes[place] = byte == UInt8(ascii: "a") ? UInt8(ascii: "b") : UInt8(ascii: "a")
      #expect(throws: InvalidValue.self) { try signer.check(String(decoding: bytes, as: UTF8.self)) }
      bytes[place] = byte
    }
    for length in bytes.indices {
      #expect(throws: InvalidValue.self) { try signer.check(String(decoding: bytes[..<length], as: UTF8.self)) }
    }
  }

  @Test func whatIsAddedEncodedOnceMoreOrReorderedIsRefused() throws {
    let signer = try Self.signer(Self.old)
    let address = signer.sign(Self.path, expires: 2_000_000_000)
    let query = try #require(address.split(separator: "?").last)
    let fields = query.split(separator: "&").map(String.init)
    for other in [
      address + "&", address + "&expires=2100000000", address + "&signature=\(fields[2].dropFirst(10))",
      address + "%20",
      address + "=", address.replacing("%3A", with: "%253A"), address.replacing("%3A", with: ":"),
      address.replacing("%3A", with: "%3a"), address.replacing("cover", with: "c%6fver"),
      address.replacing("/thumb/", with: "//thumb/"),
      "\(Self.path)?\(fields[2])&\(fields[0])&\(fields[1])", "\(Self.path)?\(fields[1])&\(fields[0])&\(fields[2])",
      "\(Self.path)?\(fields[0])&\(fields[2])", "\(Self.path)?\(fields[0])&expires=&\(fields[2])",
      address.replacing("signature=", with: "Signature="), address.replacing("signature=", with: "s%69gnature="),
    ] {
      #expect(throws: InvalidValue.self, "\(other)") { try signer.check(other) }
    }
  }

  @Test func anAddressExpiresAtItsTime() throws {
    let signer = try Self.signer(Self.old)
    let address = signer.sign(Self.path, expires: 1_000)
    try signer.check(address, now: Date(timeIntervalSince1970: 999))
    #expect(throws: InvalidValue("this address has expired")) {
      try signer.check(address, now: Date(timeIntervalSince1970: 1_000))
    }
    // Nobody learns that an altered address has expired.
    #expect(throws: InvalidValue("the signature is not that of this address")) {
      try signer.check(address + "a", now: Date(timeIntervalSince1970: 1_000))
    }
  }

  @Test func keysAreReplacedOneAfterTheOther() throws {
    let address = try Self.signer(Self.old).sign(Self.path)
    let both = try Self.signer(Self.new, Self.old)
    try both.check(address)
    #expect(both.sign(Self.path).contains("?key=new&"))
    #expect(throws: InvalidValue("the key of the signature is not known")) { try Self.signer(Self.new).check(address) }
    #expect(throws: InvalidValue("the key of the signature is not known")) {
      try both.check(address.replacing("key=old", with: "key=other"))
    }
    #expect(throws: InvalidValue("the signature is not that of this address")) {
      try both.check(address.replacing("key=old", with: "key=new"))
    }
    #expect(throws: InvalidValue("this address has to be signed")) { try both.check(Self.path) }
  }

  @Test(arguments: [
    "", "a", ":", "a:", ":0001", "a:00", "a:000102030405060708090a0b0c0d0e", "a:000102030405060708090a0b0c0d0e0",
    "a:g00102030405060708090a0b0c0d0e0f", "a b:000102030405060708090a0b0c0d0e0f", "ä:000102030405060708090a0b0c0d0e0f",
  ])
  func aKeyNeedsANameAndSixteenBytes(text: String) {
    #expect(URLSigner.Key(parsing: text) == nil)
  }
}
