import Foundation

/// Formats errors of the command line as one line, in the style of all other messages.
enum UsageMessage {
  /// Phrases of the argument parser between the error and the advice, with our replacements.
  private static let joints = [
    (". Please provide one of ", "; give "), (". Did you mean ", "; did you mean "),
  ]

  /// Formats a message. Messages of the argument parser begin with a capital; if one gives no advice, a reference to
  /// the command's help is added. Our own are unchanged.
  static func line(_ message: String, arguments: [String]) -> String {
    guard let first = message.first, first.isUppercase || first.isNumber else { return message }
    var text = first.lowercased() + message.dropFirst()
    text = onOneLine(text)
    for (full, short) in joints { text = text.replacing(full, with: short) }
    if text.hasSuffix(".") { text.removeLast() }
    // For an invalid value the parser appends our own message after a colon.
    let saysWhatToDo =
      text.contains("; give ") || text.contains("; did you mean ")
      || text.hasPrefix("the value '") && text.contains(": ")
    return saysWhatToDo ? text : "\(text); see \(help(arguments))"
  }

  /// Joins the list that the parser makes of many possible values.
  private static func onOneLine(_ text: String) -> String {
    let lines = text.split(separator: "\n")
    let items = lines.dropFirst().map { "'\($0.trimmingCharacters(in: [" ", "-"]))'" }
    guard let head = lines.first, let last = items.last, items.count > 1 else { return text }
    let others = items.dropLast().joined(separator: ", ")
    return head.replacing("the following:", with: "") + "\(others) or \(last)"
  }

  /// The command that prints the help of the called command.
  private static func help(_ arguments: [String]) -> String {
    var words = ["thumbs"]
    var known = Thumbs.configuration.subcommands
    for argument in arguments.dropFirst() {
      guard let command = known.first(where: { $0.configuration.commandName == argument }) else { break }
      words.append(argument)
      known = command.configuration.subcommands
    }
    return "'\(words.joined(separator: " ")) --help'"
  }
}
