/// An nginx of a test's own with HTTP/2 over TLS and a certificate signed by itself.
///
/// What the loopback origin cannot do. It serves the files of a folder slowly enough for transfers to overlap, and logs
/// connection, protocol and path of each request.
final class NginxServer: Sendable {
  static let program = "/usr/sbin/nginx"

  /// Whether nginx and openssl are installed.
  static var isInstalled: Bool {
    FileManager.default.isExecutableFile(atPath: program) && openssl != nil
  }

  private static var openssl: String? {
    ["/usr/bin/openssl", "/usr/local/bin/openssl"].first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  struct Failure: Error { let reason: String }

  let port: Int
  /// The certificate, to be trusted by the client.
  let certificate: String
  /// The certificate's key.
  var key: String { folder.url.path + "/key.pem" }
  private let folder: TemporaryDirectory
  private let process: Process

  /// Starts nginx with `files` to serve, each at most at `rate` bytes a second after the first 64 KiB. Where it asks for
  /// a certificate, only the server's own is accepted.
  init(files: [String: [UInt8]], rate: Int, asksForCertificate: Bool = false) async throws {
    folder = try TemporaryDirectory()
    let path = folder.url.path
    certificate = "\(path)/certificate.pem"
    port = try Self.heldPort()
    try Self.run(
      Self.openssl ?? "openssl",
      "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
      "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "\(path)/key.pem", "-out", certificate)
    try FileManager.default.createDirectory(atPath: "\(path)/files", withIntermediateDirectories: true)
    for (name, bytes) in files { try Data(bytes).write(to: folder.url.appending(path: "files/\(name)")) }
    try Self.configuration(path: path, port: port, rate: rate, asksForCertificate: asksForCertificate)
      .write(toFile: "\(path)/nginx.conf", atomically: true, encoding: .utf8)
    process = Process()
    process.executableURL = URL(fileURLWithPath: Self.program)
    process.arguments = ["-p", path, "-c", "\(path)/nginx.conf", "-e", "\(path)/error.log"]
    process.standardError = FileHandle.nullDevice
    try process.run()
    // The last line of the start: nginx writes it when it listens.
    let pidFile = "\(path)/nginx.pid"
    guard await eventually({ FileManager.default.fileExists(atPath: pidFile) }) else {
      throw Failure(reason: (try? String(contentsOfFile: "\(path)/error.log", encoding: .utf8)) ?? "nginx is silent")
    }
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
  }

  func url(_ path: String, host: String = "127.0.0.1") -> URL {
    guard let url = URL(string: "https://\(host):\(port)\(path)") else { preconditionFailure("no path: \(path)") }
    return url
  }

  /// A finished request as nginx logged it.
  struct Entry {
    let connection: String
    let httpVersion: String
    let path: String
    let status: String
  }

  /// The requests that have ended, by whichever side.
  var log: [Entry] {
    let text = (try? String(contentsOf: folder.url.appending(path: "access.log"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ").map { String($0) }
      return parts.count == 4
        ? Entry(connection: parts[0], httpVersion: parts[1], path: parts[2], status: parts[3]) : nil
    }
  }

  private static func configuration(path: String, port: Int, rate: Int, asksForCertificate: Bool) -> String {
    """
    \(geteuid() == 0 ? "user root;" : "") daemon off; worker_processes 1; pid \(path)/nginx.pid; error_log \(path)/error.log;
    events { worker_connections 256; }
    http {
      log_format plain '$connection $server_protocol $request_uri $status';
      access_log \(path)/access.log plain;
      client_body_temp_path \(path)/t1; proxy_temp_path \(path)/t2; fastcgi_temp_path \(path)/t3;
      uwsgi_temp_path \(path)/t4; scgi_temp_path \(path)/t5;
      server {
        listen 127.0.0.1:\(port) ssl http2; listen 127.0.0.2:\(port) ssl http2;
        ssl_certificate \(path)/certificate.pem; ssl_certificate_key \(path)/key.pem;
        \(asksForCertificate ? "ssl_verify_client on; ssl_client_certificate \(path)/certificate.pem;" : "")
        root \(path)/files; limit_rate_after 64k; limit_rate \(rate);
      }
    }
    """
  }

  private static func run(_ program: String, _ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(reason: "\(program) failed") }
  }

  /// A port that nobody else gets until nginx has it, which cannot be asked which one it got: that of an origin that
  /// has stopped, which those can have that ask to share it, as nginx does (`SO_REUSEADDR`).
  private static func heldPort() throws -> Int {
    let origin = try Origin { _ in .status(404) }
    origin.stop()
    return origin.port
  }
}
