import ArgumentParser

@testable import thumbs

/// What the command line may hold: wrong values, helps, versions. Without processes, but for one row.
@Suite(.timeLimit(.minutes(10))) struct UsageTests {
  /// A command line, and what its one line of complaint must name.
  struct Mistake: CustomTestStringConvertible, Sendable {
    let arguments: [String]
    let named: [String]

    init(_ line: String, _ named: String...) {
      arguments = line.split(separator: " ").map { $0 == "''" ? "" : String($0) }
      self.named = named
    }

    init(_ line: String, value: String, _ named: String...) {
      arguments = line.split(separator: " ").map { String($0) } + [value]
      self.named = named
    }

    var testDescription: String { arguments.joined(separator: " ") }
  }

  @Test(arguments: [
    Mistake("prefetch", "--query TEXT", "--urls FILE|-", "folder:"),
    Mistake("prefetch --query a --urls b", "--query", "--urls"),
    Mistake("prefetch --urls list --provider unsplash", "--provider", "--urls"),
    Mistake("prefetch --urls ''", "--urls is empty"),
    Mistake("prefetch --query", "--query <TEXT>", "thumbs prefetch --help"),
    Mistake("prefetch --query a --size 4O0", "'4O0'", "--size", "400x300", "x300"),
    Mistake("prefetch --query a --size 0x3", "'0x3'", "--size", "400x300"),
    Mistake("prefetch --query a --size 400x99999", "400x99999", "16383"),
    Mistake("prefetch --query a --fit squeeze", "'squeeze'", "--fit", "give 'contain', 'cover', 'fill' or 'auto'"),
    Mistake("convert a --output b --gravity up", "'up'", "--gravity", "'north'"),
    Mistake("prefetch --query a --format gif", "'gif'", "--format", "'webp'"),
    Mistake("prefetch --query a --quality 101", "--quality 101", "1 to 100"),
    Mistake("prefetch --query a --quality high", "'high'", "--quality", "write a number"),
    Mistake("prefetch --query a --count 0", "--count 0", "at least 1"),
    Mistake("prefetch --query a --count -1", "--count"),
    Mistake("prefetch --query a --downloads 0", "--downloads 0", "at least 1"),
    Mistake("prefetch --query a --per-host 0", "--per-host 0", "at least 1"),
    Mistake("prefetch --query a --jobs 0", "--jobs 0", "at least 1"),
    Mistake("prefetch --query a --max-pixels 0", "--max-pixels 0", "at least 1"),
    Mistake("prefetch --query a --max-bytes 0", "--max-bytes 0", "at least 1"),
    Mistake("serve --memory-cache lots", "'lots'", "--memory-cache", "256MiB"),
    Mistake("prefetch --query a --disk-cache -5", "--disk-cache"),
    Mistake("prefetch --query a --memory-budget 1k", "--memory-budget", "16MiB"),
    Mistake("prefetch --query a --provider flickr", "flickr", "folder:flickr", "commons", "pexels"),
    Mistake("prefetch --query a --provider unsplash", "unsplash", "UNSPLASH_ACCESS_KEY", "https://"),
    Mistake("prefetch --query a --provider pexels", "pexels", "PEXELS_API_KEY", "https://"),
    Mistake("prefetch --query a --provider commons:ftp://x", "ftp://x", "https://"),
    Mistake("prefetch --query a --provider openverse", "no provider 'openverse' any more", "commons"),
    Mistake("get a.jpg --output b.jpg --previews on", "no value 'on' any more", "auto"),
    Mistake("convert a --output b --strip keep-copyright", "no value 'keep-copyright' any more", "exiftool"),
    Mistake("prefetch --query a --seize 3x3", "--seize", "did you mean '--size'"),
    Mistake("prefetch --query a --max-wait 60", "'60'", "--max-wait", "30s"),
    Mistake("prefetch --query a --refresh --offline", "--refresh", "--offline", "exclude each other"),
    Mistake("get a.jpg --explain --offline", "--explain", "--offline"),
    Mistake("get", "URL|PATH", "thumbs get --help"),
    Mistake("get a.jpg", "nowhere to put", "--output FILE"),
    Mistake("get a.jpg --output b.jpg --size 1x1 --size 2x2", "--size once"),
    Mistake("get a.jpg --output b.gif", "b.gif", "GIF", ".jpg", "--format"),
    Mistake("get ftp://host/a.jpg --output b.jpg", "ftp://host/a.jpg", "http or https"),
    Mistake("convert", "--output", "thumbs convert --help"),
    Mistake("convert --output b", "name files or folders"),
    Mistake("convert a --output ''", "--output is empty"),
    Mistake("convert - - --output b", "stdin", "once"),
    Mistake("convert a --output b --size 4y", "'4y'", "400x300, 400, 400x or x300"),
    Mistake("convert a --output b --size 400x --fit cover", "--size 400x", "--fit cover", "400x300"),
    Mistake("prefetch --urls a --size x300 --fit fill", "--size x300", "--fit fill", "400x300"),
    Mistake("convert a --output b --name {nmae}", "{nmae}", "{name}"),
    Mistake("convert a --output b --name fixed", "names all pictures alike"),
    Mistake("convert a --output b --name ../{name}", "out of the output folder"),
    Mistake("convert a --output b --background blueish", "'blueish'", "rrggbb"),
    Mistake("convert a --output b --strip icc", "'icc'", "--strip", "'keep-icc'"),
    Mistake("convert a --output b --animated some", "'some'", "--animated", "'all'"),
    Mistake("convert a --output b --include [a", "'[a'", "'*.jpg'"),
    Mistake("convert a --output b --delete-orphans", "--delete-orphans", "--yes"),
    Mistake("convert a --output b --jobs 0", "--jobs 0", "at least 1"),
    Mistake("convert a --output b --memory-budget 1k", "--memory-budget", "16MiB"),
    Mistake("site", "--output", "thumbs site --help"),
    Mistake("site none --output b", "name a folder, not none"),
    Mistake("site / --output /etc", "/etc has other files", "a folder of its own"),
    Mistake("site . --output b --delete-orphans", "--delete-orphans", "--yes"),
    Mistake("convert https://a.org/b.jpg -o c", "https://a.org/b.jpg is no file or folder here", "thumbs get"),
    Mistake("cache stats all", "'all'", "thumbs cache stats --help"),
    Mistake("cache list ftp://host/a.jpg", "ftp://host/a.jpg", "http or https"),
    Mistake("cache export out", "'cache export'", "--offline and --export DIR"),
    Mistake("cache prune", "'--older-than <DURATION>'"),
    Mistake("cache prune --older-than 30", "'30'", "--older-than", "30s, 10m, 12h or 7d, or 0"),
    Mistake("cache prune --older-than 9999999999w", "--older-than", "7d"),
    Mistake("cache prune --to 1GiB", "no option '--to' any more", "--disk-cache"),
    Mistake("cache prune --older-than 0 --host a", "no option '--host' here", "'thumbs cache remove'"),
    Mistake("cache remove", "nothing to remove", "--prefix"),
    Mistake("cache remove --host=", "--host", "thumbs cache remove --help"),
    Mistake("cache remove ftp://host/a.jpg", "ftp://host/a.jpg", "http or https"),
    Mistake("serve a --urls b", "the folder", "--urls", "exclude each other"),
    Mistake("serve --share --urls a", "--share", "--urls"),
    Mistake("serve a --password-file b --root c", "a folder and nothing else", "--root"),
    Mistake("serve a --share --public", "--public"),
    Mistake("serve . --share --password-file none/b", "none/b", "No such file"),
    Mistake("serve --port 70000", "--port 70000", "0 to 65535"),
    Mistake("serve --allow-source a*b", "'a*b'", "*.example.org"),
    Mistake("serve --preset card", "--preset NAME=OPTIONS"),
    Mistake("serve --preset card=tall", "--preset card", "tall"),
    Mistake("serve --root none", "--root none", "folder"),
    Mistake("serve --config none.json", "--config none.json", "cannot be read"),
    Mistake("sign 400", "URL|PATH", "thumbs sign --help"),
    Mistake("sign 400 a.jpg", "--signing-keys", "THUMBS_SIGNING_KEYS"),
    Mistake("cache empty", "'cache empty'", "thumbs cache --help"),
    Mistake("fetch", "'fetch'", "thumbs --help"),
    Mistake("prefech --query a", "'prefech'", "did you mean 'prefetch'"),
    Mistake("help prefech", "'prefech'", "did you mean 'prefetch'"),
    Mistake("help foo", "'foo'", "thumbs --help"),
    Mistake("help cache prun", "'cache prun'", "did you mean 'prune'"),
    Mistake("cache prnue", "'cache prnue'", "did you mean 'prune'"),
    Mistake("prefetch --szie 4", "'--szie'", "did you mean '--size'"),
    Mistake("convert photos --ouput small", "'--ouput'", "did you mean '--output'"),
    Mistake("get a.jpg --verb --output b.jpg", "'--verb'", "did you mean '--verbose'"),
    Mistake("get a.jpg -quiet --output b.jpg", "'-quiet'", "did you mean '--quiet'"),
    Mistake("prefetch --urls a --foobar", "'--foobar'", "thumbs prefetch --help"),
    Mistake("get a.jpg --json --output -", "--json", "--output -"),
    Mistake("get a.jpg --rotate=90 --output b.jpg", "no option '--rotate' any more", "ImageMagick"),
    Mistake("get a.jpg --output b.jpg --crop 9", "--crop 300x200+10+20"),
    Mistake("search", "--query"),
    Mistake("search --query a --count 0", "--count 0"),
    Mistake("search --query a --provider unsplash", "UNSPLASH_ACCESS_KEY"),
    Mistake("prefetch --query a --provider commons:ftp://ada:hunter2@x", "***@x", "https://"),
    Mistake("prefetch --urls a --sheet sheet.jpg", ".html"), Mistake("prefetch --urls a --sheet ''", ".html"),
    Mistake("prefetch --urls a --name {name}", "--export DIR"),
    Mistake("convert a -o b --overwrite", "no option '--overwrite' any more", "give another folder"),
    Mistake("prefetch --urls a --export ''", "name a folder"),
    Mistake("prefetch --urls a --export b --name same", "{name} or {hash}"),
    Mistake("prefetch --urls a --export b --name ../{name}", "out of the output folder"),
    Mistake("worker --tar a --inline", "--tar"), Mistake("worker --max-failures many", "--max-failures"),
    Mistake("worker --shard-size 0", "--shard-size"), Mistake("worker --originals", "--originals"),
    Mistake("worker --require-confinement --isolate off", "exclude"),
    Mistake("serve --isolate web", "--isolate"), Mistake("serve --helper-deadline 0", "seconds"),
    Mistake("serve --unsafe-from-web --isolate off", "exclude"),
    Mistake("serve --allow-private-networks --allow-network 10.0.0.0/8", "give --public-addresses-only, too"),
    Mistake("serve --allow-network 10.0.0.0/33", "10.0.0.0/8 or fd00::/8"),
    Mistake("serve --refuse-network localhost", "10.0.0.0/8 or fd00::/8"),
    Mistake("serve --port 0 --header", value: "Authorization: hunter2", "names no host"),
    Mistake("serve --port 0 --header hunter2", "write 'HOST=NAME: VALUE'"),
    Mistake("serve --port 0 --header", value: "*=Bearer hunter2: x", "a name has no blanks"),
    Mistake("serve --port 0 --header", value: "*=X: hunter2\nY: 1", "one line"),
    Mistake("serve --port 0 --client-cert nowhere.pem", "names no host"),
    Mistake("serve --port 0 --client-cert a.example=nowhere.pem", "--client-cert nowhere.pem cannot be read"),
    Mistake("serve --port 0 --netrc-file nowhere", "--netrc-file nowhere cannot be read"),
  ])
  func aMistakeIsOneLineThatNamesItAndSaysWhatToDo(_ mistake: Mistake) async {
    let run = await Run(of: mistake.arguments)
    expectComplaint(run, 64)
    for name in mistake.named { #expect(run.stderr.contains(name), "\(run.stderr)") }
    #expect(!run.stderr.contains("hunter2"))
  }

  @Test func theProcessSaysWhatItsLineHasWrong() async throws {
    let bench = try Bench()
    expectComplaint(try await bench.process("prefech"), 64, "did you mean 'prefetch'")
    // There are no pictures in its folder.
    expectComplaint(try await bench.process("serve", "--share"), 64, "name the folder")
    #expect(try await bench.process("--version").stdout == Data("\(ThumbnailPipeline.version)\n".utf8))
    let help = try await bench.process("help", "cache")
    let same = await Run(of: ["cache", "--help"])
    #expect(help.status == 0 && help.stderr.isEmpty && help.stdout == same.stdout)
  }

  @Test func usualSpellingsAreTaken() throws {
    _ = try GetCommand.parse(["a", "--output", "b", "--format", "jpg", "--fit", "cover", "--gravity", "center"])
  }

  @Test(arguments: [
    "", "prefetch", "search", "convert", "site", "get", "doctor", "cache", "cache stats", "cache list",
    "cache prune", "cache remove", "cache clear", "serve", "worker", "sign",
  ])
  func everyHelpFitsATerminalAndHasAnExample(command: String) async {
    let words = command.split(separator: " ").map(String.init)
    let (run, same) = (await Run(of: words + ["--help"]), await Run(of: ["help"] + words))
    #expect(run.status == 0 && run.stdout == same.stdout)
    let examples = run.lines.filter { $0.contains("  thumbs \(command)") || $0.contains("| thumbs \(command)") }
    #expect(!examples.isEmpty)
    let lines = Thumbs.helpMessage(for: UsageMessage.called(words[...]).command, columns: 80).split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= 80 } && run.lines.count <= (command == "prefetch" ? 90 : 60))
  }

  @Test func theWholeHelpOfPrefetchHasEveryOptionWithItsDefault() async throws {
    let run = await Run(of: ["prefetch", "--help-hidden"])
    let defaults = [
      "--query": nil, "--urls": nil, "--provider": "unsplash or pexels",
      "--count": "three pages", "--size": "400", "--fit": "contain",
      "--format": "auto", "--quality": "80", "--downloads": "16",
      "--per-host": "6",
      "--jobs": "one for each core", "--cache-dir": "thumbs in $XDG_CACHE_HOME or ~/.cache",
      "--disk-cache": "1GiB", "--memory-budget": "512MiB", "--max-pixels": "268435456", "--max-bytes": "256MiB",
      "--refresh": nil, "--offline": nil, "--json": nil, "--quiet": nil,
      "--verbose": nil,
    ]
    for (option, value) in defaults {
      let start = try #require(run.lines.firstIndex { Self.names(option, $0) }, "\(option) is missing")
      let rest = run.lines[(start + 1)...].prefix { $0.hasPrefix("       ") }
      let description = ([run.lines[start]] + rest).map { $0.trimmingCharacters(in: .whitespaces) }
        .joined(separator: " ")
      if let value { #expect(description.contains("default: \(value)"), "\(option): \(description)") }
    }
  }

  /// Whether a line of a help begins the description of the option.
  private static func names(_ option: String, _ line: String) -> Bool {
    line.hasPrefix("  \(option) ") || line.hasPrefix("  -\(option.dropFirst(2).prefix(1)), \(option) ")
  }

  @Test func theHelpOfSearchHasNothingAboutPicturesItDoesNotFetch() {
    let help = SearchCommand.helpMessage(includeHidden: true)
    for option in ["--size", "--per-host", "--jobs"] { #expect(!help.contains(option)) }
  }

  @Test func namesOfVariablesKeepTheirCapitals() {
    #expect(UsageMessage.line("ALL_PROXY names a proxy", arguments: ["thumbs"]) == "ALL_PROXY names a proxy")
    #expect(UsageMessage.line("Missing 'x'", arguments: ["thumbs"]) == "missing 'x'; see 'thumbs --help'")
    for message in ["C.json: line 1 is no object", "Pictures cannot be read", "2024 is no folder"] {
      #expect(UsageMessage.line(message, arguments: ["thumbs"]) == message)
    }
  }

  @Test func whatWentIsSaidWhereItIsMissedOnly() throws {
    let commands = Thumbs.configuration.subcommands.flatMap { [$0] + $0.configuration.subcommands }
    let known = commands.map { command in
      Set(command.helpMessage(includeHidden: true).split { !($0.isLetter || $0 == "-") }.map { String($0) })
    }
    for (option, use) in UsageMessage.removed where option.hasPrefix("--") {
      let message = UsageMessage.misspelling(in: ["thumbs", "sign", "\(option)=x"])
      #expect(message == "there is no option '\(option)' any more: \(use)")
      #expect(!known.contains { $0.contains(option) }, "\(option)")
    }
    for (option, use) in UsageMessage.elsewhere {
      let message = UsageMessage.misspelling(in: ["thumbs", "sign", option])
      #expect(message == "there is no option '\(option)' here: \(use)")
      #expect(known.contains { $0.contains(option) }, "\(option)")
    }
    for (name, use) in UsageMessage.removedProviders {
      #expect(throws: (any Error).self) { try ProviderOptions.parse(["--provider", name]) }
      #expect(UsageMessage.removal(ofProvider: name) == "there is no provider '\(name)' any more: \(use)")
    }
  }
}

/// Expects that a run ended with a status and one line on stderr, which has these words, and printed nothing.
func expectComplaint(
  _ run: Run, _ status: Int32, _ words: String..., printing: Bool = false,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(run.status == status && run.complaints.count == 1, "\(run.stderr)", sourceLocation: sourceLocation)
  #expect(printing || run.stdout.isEmpty, sourceLocation: sourceLocation)
  for words in words { #expect(run.stderr.contains(words), "\(run.stderr)", sourceLocation: sourceLocation) }
  expectPlain(run, sourceLocation: sourceLocation)
}

/// Expects of each line on stderr what all of them promise: it begins with the command's name, in the style of a message.
func expectPlain(_ run: Run, sourceLocation: SourceLocation = #_sourceLocation) {
  for line in run.complaints {
    #expect(line.hasPrefix("thumbs: ") && !line.hasSuffix("."), "\(line)", sourceLocation: sourceLocation)
    #expect(!line.contains("Error Domain") && !line.contains("Optional("), "\(line)", sourceLocation: sourceLocation)
  }
}

/// Durations on the command line.
@Suite struct DurationOptionTests {
  @Test(arguments: [
    ("30s", 30), ("10m", 600), ("12h", 43_200), ("7d", 604_800), ("2w", 1_209_600), ("1.5h", 5400), ("0d", 0), ("0", 0),
  ])
  func aNumberWithItsUnitIsRead(text: String, seconds: Int) throws {
    #expect(try Duration.option(text) == .seconds(seconds))
  }

  @Test(arguments: ["", "d", "30", "30 d", "-1d", "1y", "1e9s", "∞d", "1.2.3d", "99999999w", "١d"])
  func anythingElseIsRefusedWithAnExample(text: String) {
    #expect(throws: ValidationError.self) { try Duration.option(text) }
  }
}
