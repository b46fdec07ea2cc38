import ArgumentParser
import Foundation
import ThumbnailCore
import ThumbnailServer

/// Who may see what a server shows, beside those at this machine.
struct ShareOptions: ParsableArguments {
  @Flag(help: "Show the folder to the network, after a password.")
  var share = false

  @Option(
    "FILE",
    "A file with the password, which only you may read (chmod 600); it is made if it is missing. (default: a new "
      + "password at each start)", .naming("a file"), visibility: .hidden)
  var passwordFile: String?

  @Flag(
    name: .customLong("public"),
    help: ArgumentHelp("Serve at --host whatever it shows to everybody who can reach it.", visibility: .hidden))
  var isPublic = false

  private static let passwordBytes = 8...1000

  /// Whether visitors need a password.
  var asksForPassword: Bool { share || passwordFile != nil }

  /// The password of the file, or a new one, which is written to the file if it is missing.
  func password() throws -> String {
    guard let passwordFile else { return Login.randomPassword() }
    let path = RawPath(passwordFile)
    let permissions: mode_t
    do throws(SystemFailure) {
      if (try? FileState(of: path)) == nil {
        var file = try NewFile(path, permissions: 0o600)
        try file.write(Data("\(Login.randomPassword())\n".utf8))
        try file.commit(replacing: false)
      }
      permissions = try FileState(of: path).permissions
    } catch {
      throw ValidationError("--password-file \(passwordFile) cannot be used: \(error.reason)")
    }
    guard permissions & 0o077 == 0 else {
      throw ValidationError("others may read --password-file \(passwordFile): chmod 600 it")
    }
    let line = try? String(contentsOfFile: passwordFile, encoding: .utf8).prefix { !$0.isNewline }
    guard let line, Self.passwordBytes.contains(line.utf8.count) else {
      throw ValidationError("the first line of --password-file \(passwordFile) must be a password of 8 to 1000 bytes")
    }
    return String(line)
  }

  /// Has `qrencode` draw a code on the terminal. Returns false where it is not installed.
  private static func drawCode(of text: String) -> Bool {
    // Not as an argument, which all users can see.
    guard let pipe = popen("qrencode --type=ANSIUTF8 --level=L 2>&-", "we") else { return false }
    fputs(text, pipe)
    return pclose(pipe) == 0
  }

  /// Prints how to log in at the address of the page.
  func announce(_ login: Login, at address: String) throws {
    let console = Console.standard
    try console.print(passwordFile.map { "The password is in \($0)." } ?? "Password: \(login.password)")
    if isatty(console.output) == 1, Self.drawCode(of: "\(address)login/\(login.ticket)") {
      try console.print("Who scans the code needs no password.")
    }
    console.complain("the network can read along, because this is plain HTTP; docs/nginx.md says how to add TLS")
  }
}
