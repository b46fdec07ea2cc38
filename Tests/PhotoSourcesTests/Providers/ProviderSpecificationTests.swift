@testable import PhotoSources

@Suite struct ProviderSpecificationTests {
  private let client = StubHTTPClient("")

  @Test func readsTheNamesThereAre() throws {
    let home = FileManager.default.homeDirectoryForCurrentUser.path
    let known: [String: ProviderSpecification] = [
      "unsplash": .unsplash, "pexels": .pexels, "commons": .commons, "folder:a b/ü:c": .folder(path: "a b/ü:c"),
      "folder:~/Pictures": .folder(path: "\(home)/Pictures"), "folder:~": .folder(path: home),
      "unsplash:https://a.example/b": .service(.unsplash, at: "https://a.example/b"),
    ]
    for (text, expected) in known { #expect(try ProviderSpecification(parsing: text) == expected) }
    for text in ["", "folder:", "folder", "Unsplash", "flickr", "flickr:https://a.example", "commons:", ":commons"] {
      #expect(throws: ProviderError.unknownProvider(text)) { try ProviderSpecification(parsing: text) }
    }
  }

  @Test func thePreferredSourceIsOneWhoseKeyIsSet() throws {
    let unsplash = ["UNSPLASH_ACCESS_KEY": " abc\n"]
    let pexels = ["PEXELS_API_KEY": "abc"]
    func name(_ environment: [String: String]) throws -> String {
      try ProviderSpecification.preferred(environment: environment).provider(environment: environment, client: client)
        .name
    }
    #expect(try name(unsplash) == "unsplash")
    #expect(try name(pexels) == "pexels")
    #expect(try name(pexels.merging(unsplash) { $1 }) == "unsplash")
    for value in ["", " \n"] {
      let environment = ["UNSPLASH_ACCESS_KEY": value, "PEXELS_API_KEY": value]
      #expect(try name(environment) == "commons")
      for specification in [ProviderSpecification.unsplash, .pexels] {
        #expect(throws: ProviderError.self) { try specification.provider(environment: environment, client: client) }
      }
    }
  }

  @Test(arguments: ["…", "...", "<key>\u{301}", "a b\nc"])
  func aKeyThatIsNoneIsSaidAndNoOtherSourceStandsIn(value: String) {
    for variable in ["UNSPLASH_ACCESS_KEY", "PEXELS_API_KEY"] {
      #expect {
        let environment = [variable: value]
        _ = try ProviderSpecification.preferred(environment: environment).provider(
          environment: environment, client: client)
      } throws: { error in
        guard case .keyUnusable(_, variable, _)? = error as? ProviderError else { return false }
        return "\(error)".contains(variable) && !"\(error)".contains(value)
      }
    }
  }

  @Test func anAddressMustBeOfTheWeb() throws {
    let set = ["UNSPLASH_ACCESS_KEY": "abc"]
    for address in ["", "api.example.org", "ftp://api.example.org", "http://", "file:///x"] {
      #expect(throws: ProviderError.invalidAddress(address)) {
        try ProviderSpecification.service(.unsplash, at: address).provider(environment: set, client: client)
      }
    }
  }

  @Test func linksCarryTheNameOfTheApplication() async throws {
    let unsplash = try UnsplashOrigin(pictures: [.init(id: "a", description: "lake")])
    let provider = try ProviderSpecification.service(.unsplash, at: unsplash.baseURL.absoluteString).provider(
      environment: ["UNSPLASH_ACCESS_KEY": unsplash.accessKey], client: loopbackClient(), application: "my app")
    let photo = try #require(try await provider.search(PhotoQuery("lake"), at: nil).photos.first)
    #expect(photo.pageURL?.query() == "utm_source=my%20app&utm_medium=referral")
  }

  @Test func aFolderNeedsNoKey() throws {
    let provider = try ProviderSpecification.folder(path: "a/../b").provider(environment: [:], client: client)
    #expect((provider as? FolderProvider)?.path == FileManager.default.currentDirectoryPath + "/b")
  }
}
