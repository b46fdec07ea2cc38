import DecodeSandbox

/// The program `thumbs-decode`: a helper process, and nothing else. It has no network, no database and no options.
@main
enum Main {
  static func main() {
    DecodeHelper.serveIfAsked()
    DecodeHelper.refuse("thumbs-decode")
  }
}
