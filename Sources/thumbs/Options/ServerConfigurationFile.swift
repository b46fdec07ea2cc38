import ArgumentParser
import Foundation

/// A file with options of `thumbs serve`, in JSON: names as on the command line without the dashes, `folder` for the
/// folder to show, and `preset` as an object of options by name.
///
///     {"root": "/srv/pictures", "port": 8080, "allow-source": ["*.example.org"], "preset": {"card": "400x300,cover"}}
struct ServerConfigurationFile {
  /// The name of the command line's argument, and the options that exclude it.
  private static let folder = "folder"
  private static let sources = [folder, "provider", "urls"]
  /// The option that names such a file.
  static let option = "config"

  /// The options that the file cannot contain.
  private static let excluded = [option, "check", "help", "version"]

  /// The value of an option.
  private enum Value: Decodable {
    case flag(Bool)
    case texts([String])

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if let flag = try? value.decode(Bool.self) {
        self = .flag(flag)
      } else if let number = try? value.decode(Int.self) {
        self = .texts(["\(number)"])
      } else if let number = try? value.decode(Double.self) {
        self = .texts(["\(number)"])
      } else if let pairs = try? value.decode([String: String].self) {
        self = .texts(pairs.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
      } else if let texts = try? value.decode([String].self) {
        self = .texts(texts)
      } else {
        self = .texts([try value.decode(String.self)])
      }
    }
  }

  private let path: String
  private let values: [String: Value]

  /// Reads a file.
  init(path: String) throws(ValidationError) {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ValidationError("--config \(path) cannot be read; check the path and its permissions")
    }
    do {
      values = try JSONDecoder().decode([String: Value].self, from: data)
    } catch {
      throw ValidationError("--config \(path) is not a JSON object of options; see docs/serving.md")
    }
    self.path = path
  }

  /// The command with this file's options and those of the command line, which have precedence.
  ///
  /// - Parameter given: The arguments of the command line that follow the command's name.
  func command(with given: [String]) throws -> ServeCommand {
    let known = Set(
      ServeCommand.helpMessage(includeHidden: true).matches(of: /--([a-z][a-z-]+)/).map { String($0.1) } + [Self.folder]
    )
    for name in values.keys.sorted() where !known.contains(name) || Self.excluded.contains(name) {
      let unknown = "“\(name.prefix(40))” is no option of the file; thumbs serve --help-hidden has them all"
      throw ValidationError("\(path): \(UsageMessage.removal(of: "--\(name)") ?? unknown)")
    }
    let arguments = arguments(beside: given)
    do {
      guard let command = try ServeCommand.parseAsRoot(arguments) as? ServeCommand else { throw ExitCode.failure }
      return command
    } catch {
      throw ValidationError(
        "\(path): \(UsageMessage.line(ServeCommand.message(for: error), arguments: ["thumbs", "serve"]))")
    }
  }

  private func arguments(beside given: [String]) -> [String] {
    var rest: [String] = []
    var skipsNext = false
    for word in given {
      if !skipsNext, word != "--\(Self.option)", !word.hasPrefix("--\(Self.option)=") { rest.append(word) }
      skipsNext = word == "--\(Self.option)"
    }
    let named = Set(
      rest.compactMap { $0.hasPrefix("--") ? $0.dropFirst(2).prefix { $0 != "=" } : nil }.map(String.init))
    let hasSource = (try? ServeCommand.parseAsRoot(rest) as? ServeCommand)?.hasSource == true
    var words: [String] = []
    for (name, value) in values.sorted(by: { $0.key < $1.key }) where !named.contains(name) {
      if hasSource, Self.sources.contains(name) { continue }
      switch value {
      case .flag(let isOn): if isOn { words.append("--\(name)") }
      case .texts(let texts) where name == Self.folder: words += texts
      // In one word, so that no value is parsed as an option.
      case .texts(let texts): words += texts.map { "--\(name)=\($0)" }
      }
    }
    return words + rest
  }
}
