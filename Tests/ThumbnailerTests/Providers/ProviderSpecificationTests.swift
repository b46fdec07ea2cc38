import Foundation
import Testing

@testable import Thumbnailer

@Suite struct ProviderSpecificationTests {
  private let client = StubHTTPClient("")

  @Test func readsTheNamesThereAre() throws {
    #expect(try ProviderSpecification(parsing: "auto") == .auto)
    #expect(try ProviderSpecification(parsing: "unsplash") == .unsplash)
    #expect(try ProviderSpecification(parsing: "folder:a b/ü:c") == .folder(path: "a b/ü:c"))
    let home = FileManager.default.homeDirectoryForCurrentUser.path
    #expect(try ProviderSpecification(parsing: "folder:~/Pictures") == .folder(path: "\(home)/Pictures"))
    #expect(try ProviderSpecification(parsing: "folder:~") == .folder(path: home))
    for text in ["", "folder:", "folder", "Unsplash", "flickr"] {
      #expect(throws: ProviderError.unknownProvider(text)) { try ProviderSpecification(parsing: text) }
    }
  }

  @Test func autoTakesWhatIsSetUp() throws {
    let set = ["UNSPLASH_ACCESS_KEY": " abc\n"]
    #expect(try ProviderSpecification.auto.provider(environment: set, client: client).name == "unsplash")
    for environment in [[:], ["UNSPLASH_ACCESS_KEY": ""], ["UNSPLASH_ACCESS_KEY": "a b\nc"]] {
      #expect(throws: ProviderError.nothingConfigured) {
        try ProviderSpecification.auto.provider(environment: environment, client: client)
      }
      #expect(throws: ProviderError.self) {
        try ProviderSpecification.unsplash.provider(environment: environment, client: client)
      }
    }
    #expect(ProviderError.nothingConfigured.message.contains("UNSPLASH_ACCESS_KEY"))
  }

  @Test func anAddressMustBeOfTheWeb() throws {
    let set = ["UNSPLASH_ACCESS_KEY": "abc"]
    for address in ["", "api.example.org", "ftp://api.example.org", "http://", "file:///x"] {
      #expect(throws: ProviderError.invalidAddress(address)) {
        try ProviderSpecification.unsplash.provider(environment: set, baseURL: address, client: client)
      }
    }
    #expect(throws: ProviderError.self) {
      try ProviderSpecification.folder(path: "/").provider(environment: set, baseURL: "http://a", client: client)
    }
  }

  @Test func aFolderNeedsNoKey() throws {
    let provider = try ProviderSpecification.folder(path: "a/../b").provider(environment: [:], client: client)
    #expect((provider as? FolderProvider)?.path == FileManager.default.currentDirectoryPath + "/b")
  }
}
