import Testing

@testable import Exports
@testable import FolderConversion
@testable import ThumbnailCore

@Suite(.timeLimit(.minutes(5))) struct NameResolutionTests {
  private let noNames = ConversionIndex(nil)

  private func list(_ paths: [String]) -> InputList {
    var list = InputList(InputSelection(.init(inputs: [], output: "")))
    for path in paths {
      let raw = RawPath(path)
      let root = list.addRoot(.init(path: Array(raw.folder), absolute: Array("/nowhere/".utf8) + raw.folder))
      list.add(raw.name, kind: .picture, in: list.addFolder([], of: root))
    }
    return list
  }

  private func names(_ change: (inout FolderConverter.Options) throws -> Void) rethrows -> OutputNames {
    var options = FolderConverter.Options(inputs: [.path("in")], output: "out")
    try change(&options)
    return OutputNames(options)
  }

  /// What each input's thumbnails are called, with `*` for an open end.
  private func claimed(
    _ paths: String..., change: (inout FolderConverter.Options) throws -> Void = { _ in }
  ) throws -> [String: [String]] {
    let names = try names(change)
    func settled(_ paths: [String]) throws -> [String: [String]] {
      var list = list(paths)
      let repeated = try NameResolution(names, &list, published: noNames, cancelled: CancellationFlag()).repeated
      var claimed: [String: [String]] = [:]
      for (index, path) in paths.enumerated() where !repeated.contains(index) {
        claimed[path] = names.planned(for: list.source(at: index))?.map { OutputNames.shown($0).description }
      }
      return claimed
    }
    let claimed = try settled(paths)
    // Whatever the order of the inputs.
    for rotation in 1..<max(2, paths.count) {
      let rotated = Array(paths[rotation...] + paths[..<rotation])
      #expect(try settled(rotated) == claimed)
      #expect(try settled(rotated.reversed()) == claimed)
    }
    return claimed
  }

  private func collisions(
    _ paths: String..., change: (inout FolderConverter.Options) throws -> Void
  ) throws -> [String] {
    var list = list(paths)
    let names = try names(change)
    do throws(ConversionError) {
      _ = try NameResolution(names, &list, published: noNames, cancelled: CancellationFlag())
      return []
    } catch {
      guard case .collisions(let found) = error else { return ["\(error)"] }
      return found.map(\.message)
    }
  }

  private func digits(_ path: String, _ count: Int = 8) -> Substring {
    NamingTemplate.hash(RawPath("/nowhere/" + path)).prefix(count)
  }

  @Test func eachSourceOfAClashKeepsItsExtensionAndOthersAreLeftAlone() throws {
    #expect(
      try claimed("IMG_1.HEIC", "IMG_1.JPG", "IMG_2.JPG", "IMG_2.MOV.jpg") == [
        "IMG_1.HEIC": ["IMG_1.heic.*"], "IMG_1.JPG": ["IMG_1.jpg.*"], "IMG_2.JPG": ["IMG_2.*"],
        "IMG_2.MOV.jpg": ["IMG_2.MOV.*"],
      ])
    #expect(
      try claimed("a.png", "a.gif") { $0.format = .webp } == ["a.png": ["a.png.webp"], "a.gif": ["a.gif.webp"]])
  }

  @Test func severalSizesOfAPictureAreToldApartTogether() throws {
    let sizes = ["400x", "80x60"].compactMap { TargetSize(parsing: $0) }
    #expect(
      try claimed("a.png", "a.gif", "a-400x.gif") { $0.sizes = sizes } == [
        "a.png": ["a.png-400x.*", "a.png-80x60.*"], "a.gif": ["a.gif-400x.*", "a.gif-80x60.*"],
        "a-400x.gif": ["a-400x-400x.*", "a-400x-80x60.*"],
      ])
  }

  @Test func aPlainNameThatIsAnothersWithItsExtensionMovesToo() throws {
    #expect(
      try claimed("a.heic", "a.jpg", "a.heic.png", "a.heic.png.gif") == [
        "a.heic": ["a.heic.*"], "a.jpg": ["a.jpg.*"], "a.heic.png": ["a.heic.png.*"],
        "a.heic.png.gif": ["a.heic.png.gif.*"],
      ])
  }

  @Test func whatTheExtensionDoesNotTellApartADigestDoes() throws {
    #expect(
      try claimed("a.JPG", "a.jpg", "x/a.jpg", "a.png") == [
        "a.JPG": ["a.jpg-\(digits("a.JPG")).*"], "a.jpg": ["a.jpg-\(digits("a.jpg")).*"],
        "x/a.jpg": ["a.jpg-\(digits("x/a.jpg")).*"], "a.png": ["a.png.*"],
      ])
    // A picture that is named like the digits of another.
    let made = "a.jpg-\(digits("a.jpg"))"
    let claimed = try claimed("a.JPG", "a.jpg", made + ".gif")
    #expect(claimed["a.jpg"] == [made + ".*"] && claimed[made + ".gif"] == [made + ".gif.*"])
  }

  @Test func aNameWithoutExtensionHasNoneToKeep() throws {
    #expect(try claimed("a", "a.jpg") == ["a": ["a.*"], "a.jpg": ["a.jpg.*"]])
    #expect(try claimed("a", "x/a") == ["a": ["a-\(digits("a")).*"], "x/a": ["a-\(digits("x/a")).*"]])
  }

  @Test func aLongNameStaysWithinWhatFileSystemsTake() throws {
    let name = String(repeating: "n", count: 245)
    let claimed = try claimed(name + ".jpg", name + ".png")
    #expect(Set(claimed.values.joined()).count == 2)
    #expect(claimed.values.joined().allSatisfy { $0.utf8.count < 210 })
  }

  @Test func underSameOnlyWhatMayTurnOutAlikeIsToldApart() throws {
    #expect(
      try claimed("a.jpg", "a.png") { $0.format = .same } == ["a.jpg": ["a.jpg"], "a.png": ["a.png"]])
    #expect(
      try claimed("a.HEIC", "a.bmp") { $0.format = .same } == ["a.HEIC": ["a.heic.*"], "a.bmp": ["a.bmp.*"]])
    #expect(
      try claimed("a.heic", "a.jpg", "a.gif") { $0.format = .same } == [
        "a.heic": ["a.heic.*"], "a.jpg": ["a.jpg.jpg"], "a.gif": ["a.gif"],
      ])
  }

  @Test func oneFileNamedTwiceIsNoClash() throws {
    var list = list(["a.jpg", "b.jpg", "a.jpg", "a.png"])
    let names = names { _ in }
    #expect(try NameResolution(names, &list, published: noNames, cancelled: CancellationFlag()).repeated == [2])
    #expect((0..<4).map { list.isToldApart(at: $0) } == [true, false, false, true])
  }

  @Test func picturesThatTheUsersTemplateNamesAlikeAreAnError() throws {
    let template = try NamingTemplate("{name}.{ext}")
    #expect(
      try collisions("x/a.jpg", "y/b.jpg", "y/a.jpg") { ($0.format, $0.name) = (.jpeg, template) }
        == ["x/a.jpg and y/a.jpg would both write a.jpg"])
    // Which end the name gets is known only once the pictures are read.
    #expect(
      try collisions("a.jpg", "a.png", "a.gif") { $0.name = template }
        == ["a.jpg and a.png would both write a.*", "a.jpg and a.gif would both write a.*"])
    let byEnd = try NamingTemplate("{name}.{oldext}.{ext}")
    let byHash = try NamingTemplate("{hash}.{ext}")
    #expect(try collisions("x/a.jpg", "y/a.png", "y/a.jpg") { $0.name = byEnd }.count == 1)
    #expect(try collisions("x/a.jpg", "y/a.png", "y/a.jpg") { $0.name = byHash }.isEmpty)
    #expect(
      try collisions("a.jpg") {
        ($0.sizes, $0.name) = ([TargetSize(PixelSize(10, 10)), TargetSize(PixelSize(20, 20))], template)
      } == ["a.jpg and a.jpg would both write a.*"])
  }
}
