import Foundation

@testable import Exports
@testable import ThumbnailCore

/// The names of thumbnails: a template on the first line, the path of a source image on the second, an address on the
/// third. Whatever they hold, a name stays in its folder, is no reserved one, and fits into a file system.
func fuzzNames(_ input: FuzzInput) {
  let lines = input.lines(atMost: 3) + [[], []]
  let template = lines.first.flatMap { try? NamingTemplate(String(decoding: $0, as: UTF8.self)) }
  if let template {
    require((try? NamingTemplate(template.description)) == template, "\(template) is another when it is read again")
  }
  checkConversion(template, of: lines[1])
  checkExport(template, PictureName(String(decoding: lines[1], as: UTF8.self), identity: "fuzz"))
  if let url = URL(string: String(decoding: lines[2], as: UTF8.self)) { checkExport(template, PictureName(url)) }
}

private let sizes = [TargetSize(PixelSize(400, 300)), TargetSize(PixelSize(16383, 300))]

/// The name of a file in a folder, whose path has no empty components and none that lead out of it.
private func checkConversion(_ template: NamingTemplate?, of path: ArraySlice<UInt8>) {
  let parts = path.filter { $0 != 0 }.split(separator: RawPath.slash)
  guard let name = parts.last, !parts.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) })
  else { return }
  let folder = parts.dropLast().flatMap { $0 + [RawPath.slash] }
  let source = NamingTemplate.Source(
    folder: Array(folder), name: Array(name), absolutePath: RawPath(bytes: Array("/fuzz/".utf8) + folder + name))
  for size in sizes {
    for template in [template ?? .standard(sizeCount: 1), .standard(sizeCount: 2)] {
      guard let path = template.path(for: source, size: size, ext: Array("webp".utf8)) else { continue }
      checkPath(path, "\(template) of \(name)")
      let open = template.path(for: source, size: size, ext: nil)
      let filled = open?.split(separator: NamingTemplate.openEnd, omittingEmptySubsequences: false)
        .joined(separator: Array("webp".utf8))
      require(filled.map { Array($0) } == path, "\(template) of \(name) with an open end is another name")
    }
  }
}

private func checkExport(_ template: NamingTemplate?, _ picture: PictureName) {
  let source = picture.templateSource
  require(source.folder.count <= 600, "a folder of \(source.folder.count) bytes")
  for part in (source.folder + source.name).split(separator: RawPath.slash) {
    require(part.count <= 150, "a part of \(part.count) bytes")
    let text = String(validating: part, as: UTF8.self)
    require(text?.isOneLine == true, "a part that is not text of one line")
    require(text?.unicodeScalars.contains { "\\:*?\"<>|".unicodeScalars.contains($0) } == false, "a part \(text ?? "")")
    let first = part.first.map { UnicodeScalar($0) }
    require(first != "." && first != "-", "a hidden name or an option: \(text ?? "")")
    let last = part.last.map { UnicodeScalar($0) }
    require(last != "." && last != " ", "a name that some systems cut: \(text ?? "")")
  }
  guard let export = try? ThumbnailExport(folder: "/tmp", name: template, sizeCount: 2) else { return }
  for size in sizes {
    // A name with a date is refused: there is no file.
    guard let path = try? export.path(of: picture, size: size.box, format: .webp) else { continue }
    checkPath(path, "\(template?.description ?? "the standard") of \(picture)")
    let marked = ThumbnailExport.marked(path, with: picture.mark)
    checkPath(marked, "\(path) marked")
    for part in path.split(separator: RawPath.slash) + marked.split(separator: RawPath.slash) {
      require(part.count <= 255, "a name of \(part.count) bytes")
    }
  }
}

private func checkPath(_ path: [UInt8], _ what: @autoclosure () -> String) {
  require(!path.isEmpty && path.first != RawPath.slash, "\(what()) is \(path)")
  require(!path.contains(0), "\(what()) holds a zero byte")
  for part in path.split(separator: RawPath.slash, omittingEmptySubsequences: false) {
    require(!part.isEmpty && !part.elementsEqual(".".utf8), "\(what()) has an empty part: \(path)")
    require(!part.elementsEqual("..".utf8), "\(what()) leads out of its folder: \(path)")
    require(!part.starts(with: NamingTemplate.reservedPrefix), "\(what()) is reserved: \(path)")
  }
}
