import DecodeSandbox
import Foundation

/// The program `thumbs-decode`: a helper process, and nothing else. It has no network, no database and no options.
@main
enum Main {
  static func main() {
    DecodeHelper.serveIfAsked()
    FileHandle.standardError.write(Data("thumbs-decode is not for people: thumbs starts it to decode pictures\n".utf8))
    exit(64)
  }
}
