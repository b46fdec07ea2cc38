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
    return try OutputNames(options).claim(list, cancelled: CancellationFlag())
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

  @Test func theNamesAreFilledInWithWhatWasWritten() throws {
    let names = OutputNames(FolderConverter.Options(inputs: [], output: "out"))
    let planned = try #require(
      names.planned(for: .init(folder: Array("x/".utf8), name: Array("a.b".utf8), absolutePath: RawPath("/a"))))
    #expect(planned.map { String(decoding: names.path($0, written: .webp), as: UTF8.self) } == ["x/a.webp"])
    #expect(
      names.possiblePaths(planned[0]).map { String(decoding: $0, as: UTF8.self) }
        == ["x/a.jpg", "x/a.webp", "x/a.png"])
  }
}
