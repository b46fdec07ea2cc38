/// Writes TIFF structures as cameras do: directories, the values that do not fit into their fields, then the blocks of
/// bytes that fields point to.
package struct TIFFWriter {
  /// A field's value.
  package indirect enum Value {
    case short([Int])
    case long([Int])
    case text(String)
    case bytes([UInt8])
    /// Directories that the field points to.
    case directories([Directory])
    /// The position of a block, and its length.
    case start(of: String)
    case length(of: String)
    /// A block as the field's value: its position and length.
    case block(String)
    /// A maker's notes: a header, then a directory. With `isOwn`, positions in it are relative to `origin` bytes after
    /// the beginning of the notes.
    case notes(header: [UInt8], Directory, origin: Int?)
  }

  package typealias Directory = [(tag: Int, value: Value)]

  package private(set) var bytes: [UInt8] = []
  package let isBigEndian: Bool
  /// What positions are relative to.
  private var base: Int
  /// Where the position of a block, or its length, is to be written.
  private var patches: [(place: Int, block: String, base: Int, isLength: Bool)] = []
  /// The blocks' ranges in the file, once they are written.
  package private(set) var blocks: [String: Range<Int>] = [:]

  /// A file that begins with `before`, then with the header of a TIFF structure.
  package init(before: [UInt8] = [], isBigEndian: Bool = false, magic: Int = 42, signature: [UInt8] = []) {
    self.isBigEndian = isBigEndian
    (bytes, base) = (before, before.count)
    bytes += Array((isBigEndian ? "MM" : "II").utf8)
    add(magic, 2)
    add(8 + signature.count, 4)
    bytes += signature
  }

  private mutating func add(_ number: Int, _ count: Int) { bytes += encoded(number, count) }

  private mutating func set(_ number: Int, at place: Int) {
    bytes.replaceSubrange(place..<place + 4, with: encoded(number, 4))
  }

  /// Writes a chain of directories at the end.
  package mutating func write(chain: [Directory]) {
    var pointer: Int?
    for directory in chain {
      if let pointer { set(bytes.count - base, at: pointer) }
      pointer = write(directory)
    }
  }

  /// Writes a directory at the end; returns where the position of the next one belongs.
  @discardableResult private mutating func write(_ directory: Directory) -> Int {
    add(directory.count, 2)
    let start = bytes.count
    bytes += [UInt8](repeating: 0, count: 12 * directory.count + 4)
    for (index, field) in directory.enumerated() {
      let place = start + 12 * index
      bytes.replaceSubrange(place..<place + 2, with: encoded(field.tag, 2))
      write(field.value, fieldAt: place)
    }
    return start + 12 * directory.count
  }

  private func encoded(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (isBigEndian ? count - 1 - $0 : $0))) }
  }

  private mutating func write(_ value: Value, fieldAt place: Int) {
    func head(_ kind: Int, _ count: Int) -> [UInt8] { encoded(kind, 2) + encoded(count, 4) }
    func put(_ kind: Int, _ count: Int, _ content: [UInt8]) {
      bytes.replaceSubrange(place + 2..<place + 8, with: head(kind, count))
      if content.count <= 4 {
        bytes.replaceSubrange(place + 8..<place + 8 + content.count, with: content)
      } else {
        set(bytes.count - base, at: place + 8)
        bytes += content
      }
    }
    switch value {
    case .short(let numbers): put(3, numbers.count, numbers.flatMap { encoded($0, 2) })
    case .long(let numbers): put(4, numbers.count, numbers.flatMap { encoded($0, 4) })
    case .text(let text): put(2, text.utf8.count + 1, Array(text.utf8) + [0])
    case .bytes(let content): put(7, content.count, content)
    case .directories(let directories):
      let pointers: Int
      if directories.count == 1 {
        bytes.replaceSubrange(place + 2..<place + 8, with: head(4, 1))
        pointers = place + 8
      } else {
        pointers = bytes.count
        put(4, directories.count, [UInt8](repeating: 0, count: 4 * directories.count))
      }
      for (index, directory) in directories.enumerated() {
        set(bytes.count - base, at: pointers + 4 * index)
        write(directory)
      }
    case .start(let block):
      put(4, 1, [0, 0, 0, 0])
      patches.append((place + 8, block, base, false))
    case .length(let block):
      put(4, 1, [0, 0, 0, 0])
      patches.append((place + 8, block, base, true))
    case .block(let block):
      put(7, 0, [])
      patches.append((place + 4, block, base, true))
      patches.append((place + 8, block, base, false))
    case .notes(let header, let directory, let origin):
      let start = bytes.count
      set(start - base, at: place + 8)
      bytes += header
      let outer = base
      if let origin { base = start + origin }
      write(directory)
      base = outer
      bytes.replaceSubrange(place + 2..<place + 8, with: head(7, bytes.count - start))
    }
  }

  /// Writes a block at the end, and into the fields that name it where it is.
  package mutating func add(block name: String, _ content: [UInt8]) {
    blocks[name] = bytes.count..<bytes.count + content.count
    for patch in patches where patch.block == name {
      set(patch.isLength ? content.count : bytes.count - patch.base, at: patch.place)
    }
    bytes += content
  }
}
