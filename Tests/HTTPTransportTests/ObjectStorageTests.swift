@testable import HTTPTransport
@testable import ThumbnailCore

/// Requests to object storage. The signatures are botocore's; integrations/python tests a thousand keys against it.
@Suite struct ObjectStorageTests {
  private static let environment = [
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    "AWS_REGION": "eu-west-1",
  ]
  /// 2026-01-02, 03:04:05.
  private static let date = Date(timeIntervalSince1970: 1_767_323_045)

  private static func storage(_ more: [String: String] = [:]) throws -> ObjectStorage {
    try #require(ObjectStorage(environment: environment.merging(more) { $1 }))
  }

  private static func signature(_ address: String, _ storage: ObjectStorage) throws -> (url: String, hash: String) {
    let source = try #require(storage.source(address))
    let url = try storage.location(of: source.url)
    let value = try #require(storage.signature(for: url, at: date).firstValue(of: "Authorization"))
    return (url.text, String(value.suffix(64)))
  }

  @Test func oddKeysAreSignedAsByBotocore() throws {
    let (url, hash) = try Self.signature("s3://bucket//a b+c=%41?é#/../猫.jpg", Self.storage())
    #expect(url == "https://s3.eu-west-1.amazonaws.com/bucket//a%20b%2Bc%3D%2541%3F%C3%A9%23/../%E7%8C%AB.jpg")
    #expect(hash == "7e696e0f4a5563bc3b4bc2f6ebb2b9c1ce76b586d7a6fae6a85d835ace85493f")
  }

  @Test func tokensAndPortsAreSigned() throws {
    let more = ["AWS_SESSION_TOKEN": "token==", "AWS_ENDPOINT_URL": "http://127.0.0.1:9000/"]
    let (url, hash) = try Self.signature("s3://bucket/a.jpg", Self.storage(more))
    #expect(url == "http://127.0.0.1:9000/bucket/a.jpg")
    #expect(hash == "1bae2b96e333979049c2c0b92e4ee86000e63503027b702d7342bc9fc3d0c9d9")
  }

  @Test(arguments: [
    "s3://", "s3://bucket", "s3://bucket/", "s3:///a", "s3://../a", "s3://a@b/c", "S3://b/a", "http://b/a",
  ])
  func whatNamesNoObjectIsNoSource(address: String) throws {
    #expect(try Self.storage().source(address) == nil)
  }

  @Test func storageNeedsKeysAndAnEndpoint() {
    #expect(ObjectStorage(environment: ["AWS_REGION": "eu-west-1", "HOME": "/nonexistent"]) == nil)
    for endpoint in ["ftp://host", "http://", "http://host/?x"] {
      #expect(ObjectStorage(environment: Self.environment.merging(["AWS_ENDPOINT_URL": endpoint]) { $1 }) == nil)
    }
    let broken = Self.environment.merging(["AWS_SESSION_TOKEN": "a\r\nX: y"]) { $1 }
    #expect(ObjectStorage(environment: broken) == nil)
  }

  @Test func keysAreNotShown() throws {
    let storage = try Self.storage(["AWS_SESSION_TOKEN": "token=="])
    var text = "\(storage) \(String(reflecting: storage))"
    dump(storage, to: &text)
    let source = try #require(storage.source("s3://bucket/a.jpg"))
    text += " \(source.identity) \(source.url)"
    for secret in ["AKIDEXAMPLE", "wJalr", "token"] { #expect(!text.contains(secret)) }
  }

  @Test func objectsOfSeveralStoragesAreDifferentImages() throws {
    let other = try Self.storage(["AWS_ENDPOINT_URL": "http://127.0.0.1:9000"])
    #expect(try Self.storage().source("s3://bucket/a") != other.source("s3://bucket/a"))
  }
}
