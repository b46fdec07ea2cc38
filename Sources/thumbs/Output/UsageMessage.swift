import Foundation

/// What is wrong with the command line, in one line of the same style as all other messages.
enum UsageMessage {
  /// Words of the argument parser that stand between what is wrong and what to do.
  private static let joints = [
    (". Please provide one of ", "; give "), (". Did you mean ", "; did you mean "),
  ]

  /// Makes one line of a message. Those of the argument parser begin with a capital and may not say what to do: they
  /// lead to the help of the command that was called. Ours say it themselves.
  static func line(_ message: String, arguments: [String]) -> String {
    guard let first = message.first, first.isUppercase || first.isNumber else { return message }
    var text = first.lowercased() + message.dropFirst()
    text = onOneLine(text)
    for (full, short) in joints { text = text.replacing(full, with: short) }
    if text.hasSuffix(".") { text.removeLast() }
    // About an option's value the parser puts words of ours behind a colon.
    let saysWhatToDo =
      text.contains("; give ") || text.contains("; did you mean ")
      || text.hasPrefix("the value '") && text.contains(": ")
    return saysWhatToDo ? text : "\(text); see \(help(arguments))"
  }

  /// Many values to choose from come as a list of lines.
  private static func onOneLine(_ text: String) -> String {
    let lines = text.split(separator: "\n")
    let items = lines.dropFirst().map { "'\($0.trimmingCharacters(in: [" ", "-"]))'" }
    guard let head = lines.first, let last = items.last, items.count > 1 else { return text }
    let others = items.dropLast().joined(separator: ", ")
    return head.replacing("the following:", with: "") + "\(others) or \(last)"
  }

  /// How to get the help of the command that was called.
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
