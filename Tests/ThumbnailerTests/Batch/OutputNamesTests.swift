import Testing

@testable import Thumbnailer

@Suite struct OutputNamesTests {
  private func list(_ paths: String...) -> InputList {
    var list = InputList()
    for path in paths {
      let raw = RawPath(path)
      let root = list.addRoot(.init(path: Array(raw.folder), absolute: Array("/nowhere/".utf8) + raw.folder))
      list.add(raw.name, kind: .picture, in: list.addFolder([], of: root))
    }
    return list
  }

  private func claim(
    _ list: InputList, _ change: (inout FolderConverter.Options) -> Void = { _ in }
  ) throws -> Set<Int> {
    var options = FolderConverter.Options(inputs: [.path("in")], output: "out")
    change(&options)
    return try OutputNames(options).claim(list, cancelled: CancellationFlag()).repeated
  }

  private func collisions(
    _ list: InputList, _ change: (inout FolderConverter.Options) -> Void = { _ in }
  ) -> [String] {
    do {
      _ = try claim(list, change)
      return []
    } catch ConversionError.collisions(let found) {
      return found.map(\.message)
    } catch {
      return ["\(error)"]
    }
  }

  @Test func twoPicturesThatWouldWriteOneFileAreNamed() {
    #expect(
      collisions(list("x/a.jpg", "y/b.jpg", "y/a.jpg")) { $0.format = .jpeg }
        == ["x/a.jpg and y/a.jpg would both write a.jpg"])
    // Which end the name gets is known only once the pictures are read.
    #expect(collisions(list("a.jpg", "a.png")) == ["a.jpg and a.png would both write a.*"])
  }

  @Test func aNameThatTellsThemApartHelps() throws {
    let list = list("x/a.jpg", "y/a.png", "y/a.jpg")
    let byEnd = try NamingTemplate("{name}.{oldext}.{ext}")
    let byHash = try NamingTemplate("{hash}.{ext}")
    #expect(collisions(list) { $0.name = byEnd }.count == 1)
    #expect(collisions(list) { $0.name = byHash }.isEmpty)
  }

  @Test func sizesThatWouldWriteOneFileAreNamed() throws {
    let template = try NamingTemplate("{name}.{ext}")
    let found = collisions(list("a.jpg")) {
      $0.sizes = [TargetSize(PixelSize(10, 10)), TargetSize(PixelSize(20, 20))]
      $0.name = template
    }
    #expect(found == ["a.jpg and a.jpg would both write a.*"])
  }

  @Test func oneFileNamedTwiceIsNoCollision() throws {
    #expect(try claim(list("a.jpg", "b.jpg", "a.jpg")) == [2])
  }

  private func paths(_ name: String, written: ImageFormat, _ format: OutputFormat) -> [String] {
    var options = FolderConverter.Options(inputs: [], output: "out")
    options.format = format
    let names = OutputNames(options)
    let source = NamingTemplate.Source(
      folder: Array("x/".utf8), name: Array(name.utf8), absolutePath: RawPath("/x/\(name)"))
    guard let planned = names.planned(for: source) else { return [] }
    return names.paths(for: source, planned: planned, written: [written]).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func theNamesAreFilledInWithWhatWasWritten() {
    #expect(paths("a.b.jpeg", written: .webp, .auto) == ["x/a.b.webp"])
    #expect(paths("a.gif", written: .png, .png) == ["x/a.png"])
  }

  @Test func underSameTheEndStaysUnlessItLies() {
    #expect(paths("a.JPEG", written: .jpeg, .same) == ["x/a.JPEG"])
    #expect(paths("a.gif", written: .gif, .same) == ["x/a.gif"])
    #expect(paths("a.png", written: .jpeg, .same) == ["x/a.jpg"])
    #expect(paths("a.heic", written: .jpeg, .same) == ["x/a.jpg"])
    #expect(collisions(list("a.jpg", "a.png")) { $0.format = .same }.isEmpty)
    #expect(collisions(list("a.heic", "a.bmp")) { $0.format = .same }.count == 1)
  }

  @Test func aNameThatIsAnothersCanNotBeTakenLater() {
    let claims = ClaimedNames([:])
    #expect(claims.claim([1], for: 0) && claims.claim([1], for: 0) && !claims.claim([1], for: 1))
  }
}
