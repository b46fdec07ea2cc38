import ArgumentParser
import Foundation

/// Formats errors of the command line as one line, in the style of all other messages.
enum UsageMessage {
  /// Phrases of the argument parser between the error and the advice, with our replacements.
  private static let joints = [
    (". Please provide one of ", "; give "), (". Did you mean ", "; did you mean "),
  ]

  /// Formats a message. If one of the argument parser gives no advice, a reference to the command's help is added. Our
  /// own are unchanged; they may begin with a path or a variable's name.
  static func line(_ message: String, arguments: [String]) -> String {
    let parsers = /(Can't |Command '|Invalid |Missing |The (value|option) '|Unexpected |Unknown |[0-9]+ unexpected ).*/
    guard let first = message.first, message.prefixMatch(of: parsers) != nil else { return message }
    var text = first.lowercased() + message.dropFirst()
    text = onOneLine(text)
    for (option, value, use) in removedValues where text.hasPrefix("the value '\(value)' is invalid for '\(option)") {
      return "\(option) has no value '\(value)' any more: \(use)"
    }
    for (full, short) in joints { text = text.replacing(full, with: short) }
    if text.hasSuffix(".") { text.removeLast() }
    if let refusal = text.wholeMatch(of: /the value '(.*)' is invalid for '(-+[a-z-]+)(?: <.*>)?': (give|name) (.*)/) {
      let (_, value, option, verb, advice) = refusal.output
      return "\(option) \(value.isEmpty ? "is empty" : "\(value) cannot be used"): \(verb) \(advice)"
    }
    // For an invalid value the parser appends our own message after a colon.
    let saysWhatToDo =
      text.contains("; give ") || text.contains("; did you mean ")
      || text.hasPrefix("the value '") && text.contains(": ")
    if saysWhatToDo { return text }
    let (command, path) = called(arguments.dropFirst())
    if let values = values(named: text, of: command) { return "\(text); give \(values)" }
    return "\(text); see '\(path.joined(separator: " ")) --help'"
  }

  /// The possible values of the option whose value a message calls invalid: the parser names only those of options that
  /// the short help shows.
  private static func values(named message: String, of command: any ParsableCommand.Type) -> String? {
    guard message.hasPrefix("the value '"), let option = message.split(separator: "'").last, option.hasPrefix("--")
    else {
      return nil
    }
    let lines = command.helpMessage(includeHidden: true).split(separator: "\n")
    guard let start = lines.firstIndex(where: { $0.hasPrefix("  \(option) ") }) else { return nil }
    let description = [lines[start]] + lines[(start + 1)...].prefix { $0.hasPrefix("        ") }
    let text = description.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
    guard let list = text.firstRange(of: "(values: ") else { return nil }
    let values = text[list.upperBound...].prefix { $0 != ";" && $0 != ")" }.split(separator: ", ").map { "'\($0)'" }
    return values.last.map { values.dropLast().joined(separator: ", ") + " or \($0)" }
  }

  /// Joins the list that the parser makes of many possible values.
  private static func onOneLine(_ text: String) -> String {
    let lines = text.split(separator: "\n")
    let items = lines.dropFirst().map { "'\($0.trimmingCharacters(in: [" ", "-"]))'" }
    guard let head = lines.first, let last = items.last, items.count > 1 else { return text }
    let others = items.dropLast().joined(separator: ", ")
    return head.replacing("the following:", with: "") + "\(others) or \(last)"
  }

  /// The command that words call, and the words that call it, with the program's name.
  static func called(_ words: ArraySlice<String>) -> (command: any ParsableCommand.Type, path: [String]) {
    var found: (command: any ParsableCommand.Type, path: [String]) = (Thumbs.self, ["thumbs"])
    for word in words {
      let known = found.command.configuration.subcommands
      guard let command = known.first(where: { $0.configuration.commandName == word }) else { break }
      found = (command, found.path + [word])
    }
    return found
  }
}

// MARK: Misspellings

extension UsageMessage {
  /// What to use in place of what earlier versions had.
  static let removed = [
    "cache export":
      "prefetch with the same --query or --urls, --offline and --export DIR writes stored thumbnails into files",
    "cache verify": "damage is found and mended where it is read", "version": "'thumbs --version' prints it",
    "--html": "'thumbs prefetch --query TEXT --sheet FILE.html' writes a page with the pictures of a search",
    "--videos": "thumbnails are made of pictures only; ffmpegthumbnailer makes those of films",
    "--rotate": turning, "--flip": turning, "--extend": turning, "--pad": turning,
    "--linear": "leave it out", "--scaling": "leave it out: there is one way",
    "--early-stop": "only what is needed is downloaded", "--min-rate": "1,000 bytes a second are the least",
    "--partial-downloads": "up to 512 MiB are kept to resume",
    "--retry-failed": "'thumbs prefetch --refresh' tries again",
    "--client-key": "'thumbs serve' reads it from the PEM file of --client-cert",
    "--no-progress": "redirect stderr, or give --quiet", "--netrc": "give --header 'HOST=Authorization: …'",
    "--safe-formats-only": "helpers are confined; 'thumbs convert --exclude' leaves files out",
    "--max-age": "--refresh revalidates all", "--hosts": "'thumbs cache list' names them",
    "--limit": "give --count, or pipe it into head", "--newer": "the index decides",
    "--no-recursive": "give --exclude '*/**'", "--hidden": "name hidden files and folders",
    "--preserve-times": "touch -r copies times", "--fail-fast": "every picture is tried; --json names those that fail",
    "--ahead": "two pages are", "--open": "open the address that is printed", "--queue": "1024 thumbnails wait at most",
    "--deadline": "a thumbnail may take 60 s", "--fallback": "pages have onerror",
    "--rate-limit": "nginx has limit_req", "--to": "'thumbs prefetch --disk-cache SIZE' makes it smaller",
    "--grid-size": "thumbnails have 512 pixels", "--base": "write it in front of the path",
    "--original": "the smallest form that is large enough is fetched",
    "--report": "--json prints a line of JSON for each picture",
    "--made-before": "'thumbs cache clear' removes all thumbnails", "--access-log": "nginx has access_log",
    "--cacert": "name the file in SSL_CERT_FILE",
    "--proxy": "name it in https_proxy and http_proxy, or in THUMBS_PROXY",
    "--user-agent": "give --header '*=User-Agent: NAME'", "--per-page": "give --count", "--pages": "give --count",
    "--provider-url": "write it behind the provider's name, as in commons:https://wiki.example.org/w/api.php",
    "--helper-memory": "--memory-budget raises it", "--max-upload": "64 MiB are the most",
    "--max-line": "a line has at most 8 MiB; name files with path", "--effort": "the default is the best trade",
    "--sidecars": "--tar writes them", "--first-shard": "give each run a folder of its own",
    "--overwrite": "what thumbs has not written stays; move it, or give another folder",
    "--summary": "each line is answered: count the answers", "--remake": "--force makes all anew",
  ]
  /// What to use in place of options that other commands have.
  static let elsewhere = [
    "--sheet": "'thumbs prefetch --sheet' writes one, 'thumbs site' a gallery", "--crop": "'thumbs get --crop' has it",
    "--memory-cache": "'thumbs serve' has it", "--host": "'thumbs cache remove' has it",
    "--previews": "'thumbs get' and 'thumbs convert' have it",
    "--unsafe-from-web": "your own files may have any format",
    "--isolate": operators, "--require-confinement": operators, "--helper-deadline": "'thumbs serve' has it",
    "--allow-network": "'thumbs serve' has it", "--refuse-network": "'thumbs serve' has it",
    "--client-cert": "'thumbs serve' has it", "--gravity": "cover keeps the centre",
    "--netrc-file": "give --header 'HOST=Authorization: …'", "--allow-private-networks": "that is the default",
    "--refresh": "'thumbs get' and 'thumbs prefetch' have it",
    "--offline": "'thumbs get' and 'thumbs prefetch' have it",
    "--quiet": "redirect stderr", "--dry-run": "'thumbs convert' and 'thumbs desktop' have it",
  ]
  private static let operators = "'thumbs serve', 'thumbs worker' and 'thumbs doctor' have it"
  /// Values of options that went.
  static let removedValues = [
    ("--previews", "on", "auto uses previews where they look the same"),
    ("--strip", "keep-copyright", "exiftool copies such fields"),
  ]
  /// Providers that went.
  static let removedProviders = [
    "auto": "leave --provider out", "openverse": "use commons", "picsum": "use commons, or folder:PATH",
  ]
  private static let turning = "vips or ImageMagick turn and pad thumbnails"

  /// The message about an option, by its name with the dashes, that an earlier version had; nil for others.
  static func removal(of option: String) -> String? {
    removed[option].map { "there is no option '\(option)' any more: \($0)" }
      ?? elsewhere[option].map { "there is no option '\(option)' here: \($0)" }
  }

  /// The message about a provider that an earlier version had.
  static func removal(ofProvider name: String) -> String? {
    removedProviders[name].map { "there is no provider '\(name)' any more: \($0)" }
  }

  /// The message about an unknown command or option in the command line, with the closest known one; nil if all are
  /// known.
  ///
  /// The argument parser reports missing arguments before unknown ones, and its help ignores unknown commands, so a
  /// typo would go unnoticed.
  ///
  /// - Parameter arguments: The command line, including the program's name.
  static func misspelling(in arguments: [String]) -> String? {
    var words = arguments.dropFirst()
    let asksForHelp = words.first == "help"
    if asksForHelp { words.removeFirst() }
    let (command, path) = called(words)
    words = words.dropFirst(path.count - 1)
    let names = command.configuration.subcommands.compactMap { $0.configuration.commandName }
    if let word = words.first, !word.hasPrefix("-"), !names.isEmpty {
      if word == "help" { return nil }
      let group = path.dropFirst().map { "\($0) " }.joined()
      if let use = removed[group + word] { return "there is no command '\(group)\(word)' any more: \(use)" }
      return "there is no command '\(group)\(word)'; " + advice(nearest(to: word, among: names), path)
    }
    return asksForHelp ? nil : unknownOption(words, of: command, path)
  }

  private static func unknownOption(
    _ words: ArraySlice<String>, of command: any ParsableCommand.Type, _ path: [String]
  ) -> String? {
    let help = command.helpMessage(includeHidden: true)
    let known = Set(
      help.split { !($0.isLetter || $0.isNumber || $0 == "-") }.filter { $0.hasPrefix("-") }.map { String($0) })
    for word in words {
      if word == "--" { return nil }
      let name = String(word.prefix { $0 != "=" })
      guard name.hasPrefix("-"), name.count > 1, !known.contains(name) else { continue }
      if let removal = removal(of: name) { return removal }
      // A negative number is a value, which is left to the parser.
      if let first = name.dropFirst().first, first.isNumber { continue }
      // Several short options may be combined.
      if !name.hasPrefix("--"), name.dropFirst().allSatisfy({ known.contains("-\($0)") }) { continue }
      let long = name.hasPrefix("--") ? name : "-" + name
      let options = known.filter { $0.hasPrefix("--") }.map { String($0) }
      let meant = known.contains(long) ? long : nearest(to: long, among: options)
      return "unknown option '\(name)'; " + advice(meant, path)
    }
    return nil
  }

  private static func advice(_ meant: String?, _ path: [String]) -> String {
    meant.map { "did you mean '\($0)'?" } ?? "see '\(path.joined(separator: " ")) --help'"
  }

  /// The most likely intended name: the one with the smallest edit distance, at most one edit for each three letters;
  /// else one with this prefix.
  static func nearest(to word: String, among names: [String]) -> String? {
    let ranked = names.map { (name: $0, mistakes: mistakes(between: word, and: $0)) }
      .sorted { ($0.mistakes, $0.name) < ($1.mistakes, $1.name) }
    if let best = ranked.first, best.mistakes <= max(1, best.name.drop { $0 == "-" }.count / 3) { return best.name }
    let beginnings = names.filter { word.count >= 3 && $0.hasPrefix(word) }
    return beginnings.count == 1 ? beginnings[0] : nil
  }

  /// The edit distance, with transpositions (optimal string alignment).
  private static func mistakes(between first: String, and second: String) -> Int {
    let (a, b) = (Array(first.utf8), Array(second.utf8))
    var rows = [Array(0...b.count)]
    for i in 1...max(1, a.count) where !a.isEmpty {
      var row = [i] + Array(repeating: 0, count: b.count)
      for j in 0..<b.count {
        let cost = a[i - 1] == b[j] ? 0 : 1
        row[j + 1] = min(rows[i - 1][j + 1] + 1, row[j] + 1, rows[i - 1][j] + cost)
        if i > 1, j > 0, a[i - 1] == b[j - 1], a[i - 2] == b[j] { row[j + 1] = min(row[j + 1], rows[i - 2][j - 1] + 1) }
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
