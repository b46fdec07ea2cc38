import Testing

@testable import FolderConversion

@Suite struct GlobPatternTests {
  @Test(
    arguments: [
      ("*.jpg", "a.jpg", true), ("*.jpg", "2024/a.jpg", true), ("*.jpg", "a.JPG", false), ("*.jpg", "a.jpg.txt", false),
      ("2024/*.jpg", "2024/a.jpg", true), ("2024/*.jpg", "2024/may/a.jpg", false),
      ("2024/*.jpg", "x/2024/a.jpg", false),
      ("2024/**", "2024/may/a.jpg", true), ("**/raw", "x/y/raw", true), ("**/raw", "raw", true),
      ("a/**/b", "a/b", true), ("a/**/b", "a/x/y/b", true), ("a/**/b", "a/xb", false), ("/top", "top", true),
      ("/top/*", "x/top/a", false), ("cache/", "x/cache", true), ("[a-c]1", "b1", true),
      ("[a-c]1", "d1", false), ("[!a-c]1", "d1", true), ("[]]x", "]x", true),
      ("{a,b}.jpg", "b.jpg", true), ("{a,b}.{jpg,png}", "a.png", true), ("{a,b}.jpg", "c.jpg", false),
      ("{a}.jpg", "{a}.jpg", true), ("{a,{b,c}}d", "cd", true), (#"\*.jpg"#, "*.jpg", true),
      (#"\*.jpg"#, "a.jpg", false),
      ("*a*a*a*b", String(repeating: "a", count: 300), false), ("*", "anything", true), ("**", "any/thing", true),
    ] as [(String, String, Bool)])
  func fitsWhatAShellWouldFit(pattern: String, path: String, fits: Bool) throws {
    let glob = try #require(GlobPattern(pattern))
    #expect(glob.matches(path: path.utf8) == fits)
  }

  @Test(
    arguments: [
      ("?.png", "é.png", true), ("??.png", "é.png", false), ("?.png", "日.png", true), ("[é日].png", "日.png", true),
      ("[!é].png", "è.png", true), ("[à-ö].png", "é.png", true), ("a?b", "a/b", false), ("[!a]b", "/b", false),
      ("x/a?b", "x/a/b", false), ("x/a[!c]b", "x/a/b", false), ("x/a?b", "x/acb", true),
    ] as [(String, String, Bool)])
  func aCharacterIsOneHoweverManyBytesItTakes(pattern: String, path: String, fits: Bool) throws {
    let glob = try #require(GlobPattern(pattern))
    #expect(glob.matches(path: path.utf8) == fits)
  }

  @Test(
    arguments: [
      ("***b", "x/ab", true), ("x/a**b", "x/a/y/b", true), ("a**b", "a/x/b", false), ("**/a/**/b", "x/a/y/a/z/b", true),
      ("**/a/b", "x/a/c/b", false),
      ("x/**", "x", false), ("**/*.jpg", "a.jpg", true), ("[z-a]", "m", false), ("[a-]", "-", true),
      (#"a"#, #"a"#, true),
    ] as [(String, String, Bool)])
  func starsMatchAsFarAsTheyMust(pattern: String, path: String, fits: Bool) throws {
    let glob = try #require(GlobPattern(pattern))
    #expect(glob.matches(path: path.utf8) == fits)
  }

  @Test(arguments: ["", "[a", "{" + String(repeating: "{a,b}", count: 11)])
  func whatCannotBeMeantIsRefused(pattern: String) {
    #expect(GlobPattern(pattern) == nil)
  }

  @Test func namesThatAreNotUTF8AreMatchedByteByByte() throws {
    let glob = try #require(GlobPattern("*.jpg"))
    #expect(glob.matches(path: [0xE9, 0xFF] + Array(".jpg".utf8)))
  }
}
