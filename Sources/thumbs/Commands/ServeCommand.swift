import ArgumentParser
import FolderConversion
import Foundation
import HTTPServer
import NIOCore
import PhotoSources
import ThumbnailServer
import ThumbnailCore
import Thumbnailer

/// `thumbs serve`: a gallery in the browser.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Shows a folder or a photo service as a gallery in the browser.",
    usage: "thumbs serve [<FOLDER>] [<options>]",
    discussion: """
      Examples:
        thumbs serve Pictures --share
        thumbs serve --provider commons \\
          --header '*=User-Agent: fjords/1 (me@example.org)'
        thumbs serve --root Pictures --signing-keys keys --host 0.0.0.0
        thumbs serve --config server.json

      Prints the address of the page, and serves until Ctrl-C. Without a folder,
      --root or --config it shows the current one. Only this machine can reach it,
      unless --share shows it to the network after a password. No file is changed.

      Thumbnails can also be requested by address: /thumb/400x300,cover/ and the
      percent-encoded URL of a picture, or its path within --root. Pictures are
      fetched from public addresses only. Nextcloud's previews are made, too.

      thumbs serve --help-hidden lists all options; docs/serving.md explains them.
      """)

  @Argument(help: ArgumentHelp("The folder to show.", valueName: "FOLDER"), completion: .directory)
  var folder: String?

  @Option(
    "FILE",
    "A file with options in JSON, named as here without the dashes: {\"port\": 8080, \"root\": \"/srv/pictures\"}. The "
      + "command line has precedence.")
  var config: String?

  @OptionGroup(title: "Source") var source: ServedSourceOptions
  @OptionGroup(title: "Server") var server: ServerOptions
  @OptionGroup(title: "Sharing") var sharing: ShareOptions
  @OptionGroup(title: "Thumbnails by address") var service: ServiceOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var supply: OfflineOption
  @OptionGroup(title: "Resources", visibility: .hidden) var resources: PipelineOptions
  @OptionGroup(title: "Resources", visibility: .hidden) var memory: MemoryOption
  @OptionGroup(title: "Resources", visibility: .hidden) var memoryCache: MemoryCacheOption
  @OptionGroup(title: "Resources", visibility: .hidden) var limit: DownloadLimitOption
  @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkOptions
  @OptionGroup(title: "Network", visibility: .hidden) var logins: LoginOption
  @OptionGroup(title: "Network", visibility: .hidden) var operatorNetwork: OperatorNetworkOptions
  @OptionGroup(title: "Isolation", visibility: .hidden) var isolation: IsolationOptions
  @OptionGroup(title: "Isolation", visibility: .hidden) var deadline: HelperDeadlineOption

  /// The part of the memory budget that the bodies of requests and responses may take.
  private static let bodyShare = 4
  /// Downloads at once, unless given: no client has more than a quarter of them.
  private static let downloads = 64
  /// The least number of concurrent requests, so that a client's part is not too small.
  private static let leastMaking = 16

  func validate() throws {
    try checkOneOf([
      ("the folder", folder != nil), ("--provider", source.provider != nil), ("--urls", source.urls != nil),
    ])
    try checkOneOf([
      ("--allow-private-networks", service.allowPrivateNetworks),
      ("--public-addresses-only", network.publicAddressesOnly),
    ])
    let isMore = source.provider != nil || source.urls != nil || service.root != nil || service.keys.signingKeys != nil
    if sharing.asksForPassword, isMore || !service.allowSource.isEmpty || sharing.isPublic {
      throw ValidationError(
        "--share and --password-file show a folder and nothing else: leave out --provider, --urls, --root, --signing-keys, "
          + "--allow-source and --public")
    }
  }

  /// Whether there is something to show.
  var hasSource: Bool { folder != nil || source.provider != nil || source.urls != nil }

  func run() async throws {
    if let config {
      let given = CommandLine.arguments.drop { $0 != Self.configuration.commandName }.dropFirst()
      return try await ServerConfigurationFile(path: config).command(with: Array(given)).run(takesCurrentFolder: false)
    }
    let isRoot = FileManager.default.currentDirectoryPath == "/"
    try await run(takesCurrentFolder: SocketActivation.socket == nil && !isRoot)
  }

  /// Runs the command. What a service shows is named: it is started in any folder, mostly in `/`.
  private func run(takesCurrentFolder: Bool) async throws {
    if server.check {
      if ServerCheck.isReady(host: server.host, port: server.port) { return }
      throw CommandFailure(.sourceUnavailable, "no server is ready at \(server.host) port \(server.port)")
    }
    VerboseLog.start(false)
    if SecretVariables.environment["IMGPROXY_KEY"] != nil {
      Console.standard.complain("imgproxy's addresses went: IMGPROXY_KEY does nothing; --signing-keys signs /thumb")
    }
    do {
      try await resolved(takesCurrentFolder).serve().end()
    } catch let error as ProviderError {
      throw CommandFailure(error, isOffline: supply.offline)
    }
  }

  /// The command with its own choice of the folder and the address. Throws if strangers would see what nobody has
  /// meant for them.
  private func resolved(_ takesCurrentFolder: Bool) throws -> ServeCommand {
    var command = self
    if sharing.share, server.givenHost == nil { command.server.givenHost = "0.0.0.0" }
    let isForOthers = !command.server.isLoopback
    let isFree = takesCurrentFolder && !hasSource && !service.isWanted
    if isFree, sharing.asksForPassword || server.isPrivate, try hasPictures() { command.folder = "." }
    if sharing.asksForPassword {
      guard command.hasSource else {
        throw ValidationError("name the folder to share, such as: thumbs serve Pictures --share")
      }
    } else if isForOthers, !sharing.isPublic, hasSource || service.isOpen {
      throw ValidationError(
        "everybody who can reach \(server.host) would see this: --share asks for a password and --signing-keys for "
          + "signatures of thumbnails by address; --public serves it to all")
    }
    return command
  }

  /// The files of the current folder that are looked at.
  private static let mostLookedAt = 10_000

  /// Whether pictures are among the first files of the current folder and its folders.
  private func hasPictures() throws -> Bool {
    let extensions = Set(try configuration().readableFormats.flatMap(\.fileExtensions))
    let files = FileManager.default.enumerator(
      at: URL(fileURLWithPath: "."), includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    return files?.prefix(Self.mostLookedAt).contains { file in
      (file as? URL).map { extensions.contains($0.pathExtension.lowercased()) } ?? false
    } ?? false
  }

  private func serve() async throws -> ExitCode {
    let configuration = try configuration()
    let pipeline = try ThumbnailPipeline(configuration)
    _ = CacheNotices(pipeline, isQuiet: false)
    let served = try served(by: pipeline, configuration)
    let thumbnails = ThumbnailServer(served, pipeline: pipeline)
    var listening = server.listening
    listening.bodyMemory = Self.bodyBytes(configuration)
    // The rest is for downloads and files.
    listening.maximumConnections = min(listening.maximumConnections, DescriptorLimit.raise() / 2)
    let http = HTTPServer(listening, responder: thumbnails)
    let bound: SocketAddress
    do {
      bound = try await http.start()
    } catch {
      throw CommandFailure(.cannotWrite, server.message(of: error))
    }
    if source.showHidden { served.hidden?.forget() }
    let login = served.sharing?.login
    let addresses = (login == nil ? [server.host] : server.reachableHosts).map { server.url(of: bound, host: $0) }
    if login == nil, !server.isLocal(bound) { warnOfOthers(hasGallery: served.gallery != nil) }
    let interruption = Interruption()
    do {
      try await interruption.cancelling { [sharing] in
        for address in addresses { try Console.standard.print(address) }
        if let login { try sharing.announce(login, at: addresses[0]) }
        if isatty(Console.standard.error) == 1 { Console.standard.complain("serving; Ctrl-C ends it") }
        try await Task.sleep(for: .seconds(Int32.max))
      }
    } catch let error as SystemFailure {
      throw error
    } catch {
      // Stopped by a signal.
    }
    await http.beginStopping()
    await thumbnails.stop()
    await http.stop(within: server.grace)
    await pipeline.flush()
    return interruption.signal.map { .stopped(by: $0) } ?? .success
  }

  /// The pipeline's configuration.
  private func configuration() throws -> ThumbnailPipeline.Configuration {
    var configuration = ThumbnailPipeline.Configuration()
    // Anybody who can reach the page decides what the server downloads.
    configuration.addresses = service.allowPrivateNetworks ? .any : .publicOnly
    configuration.downloads = Self.downloads
    if supply.offline { configuration.cacheMode = .offline }
    configuration = try .init(
      resources, memory, memoryCache, limit, network, operatorNetwork, isolation, deadline, from: configuration)
    // One client has half of them.
    configuration.jobs = min(256, 2 * configuration.jobs)
    configuration.bytesElsewhere = Self.bodyBytes(configuration)
    configuration.decodesGiveWay = true
    return configuration
  }

  /// The memory for the bodies of requests and responses, in bytes.
  private static func bodyBytes(_ configuration: ThumbnailPipeline.Configuration) -> Int {
    configuration.memoryBudget.bytes / bodyShare
  }

  /// The server's configuration.
  private func served(
    by pipeline: ThumbnailPipeline, _ configuration: ThumbnailPipeline.Configuration
  ) throws -> ThumbnailServer.Configuration {
    var served = server.configuration
    served.headers = try logins.added(to: network.hostHeaders())
    served.gallery = try gallery(for: pipeline)
    let directory = configuration.diskCacheLimit.bytes > 0 ? configuration.cacheDirectory : nil
    // Whatever is cached: what was hidden stays so.
    if let galleryName { served.hidden = HiddenPhotosFile(in: configuration.cacheDirectory, gallery: galleryName) }
    if sharing.asksForPassword {
      served.sharing = Sharing(
        login: Login(password: try sharing.password()), links: ShareLinks(in: directory, gallery: galleryName ?? ""),
        host: server.reachableHosts[0])
    }
    served.hidden?.showsAll = source.showHidden
    if let path = served.hidden?.unreadablePath {
      throw CommandFailure(
        .cannotWrite, "what is hidden cannot be read: \(path); mend it or its rights, or show all with --show-hidden")
    }
    if let path = served.sharing?.links.unreadablePath {
      throw CommandFailure(
        .cannotWrite, "the links that were made cannot be read: \(path); mend it, or remove it to end them all")
    }
    try service.apply(to: &served)
    served.mostMaking = max(Self.leastMaking, configuration.downloads)
    served.namesSources = server.isPrivate && !sharing.asksForPassword
    return served
  }

  /// Warns that other machines can reach the server.
  private func warnOfOthers(hasGallery: Bool) {
    let console = Console.standard
    if hasGallery {
      console.complain(
        "everybody who can reach \(server.host) sees this gallery; --host 127.0.0.1 keeps it to yourself")
    }
    if service.isOpen {
      console.complain(
        "everybody who can reach \(server.host) can request thumbnails of any picture on the web; --signing-keys or "
          + "--allow-source limits that")
    }
  }

  /// Identifies the gallery: hidden pictures belong to one gallery.
  private var galleryName: String? {
    func file(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
    if let folder { return file(folder) }
    if let urls = source.urls { return file(urls) }
    return source.provider.map { $0.hasPrefix("folder:") ? file(String($0.dropFirst("folder:".count))) : $0 }
  }

  /// The source of the page; nil for no page.
  private func gallery(for pipeline: ThumbnailPipeline) throws(ProviderError) -> GallerySource? {
    guard hasSource else { return nil }
    if let folder { return try self.folder(at: folder, pipeline) }
    if let urls = source.urls {
      guard access(urls, R_OK) == 0 else { throw .listUnreadable(path: urls, reason: SystemFailure.last.reason) }
      return .search(URLListProvider(path: urls))
    }
    let specification = try ProviderSpecification(option: source.provider)
    if case .folder(let path) = specification { return try self.folder(at: path, pipeline) }
    let provider = try specification.provider(
      for: pipeline, isOffline: supply.offline)
    return .search(provider)
  }

  private func folder(at path: String, _ pipeline: ThumbnailPipeline) throws(ProviderError) -> GallerySource {
    let pictures = pipeline.configuration.readableFormats.flatMap(\.fileExtensions)
    guard let state = try? FileState(of: RawPath(path)) else { throw .folderMissing(path: path) }
    guard state.kind == .folder else { throw .notAFolder(path: path) }
    let isStoring = pipeline.configuration.diskCacheLimit.bytes > 0
    return .folder(
      FolderIndex(
        path: path, extensions: Set(pictures), pairs: source.pair == .preferJPEG,
        cacheDirectory: isStoring ? pipeline.configuration.cacheDirectory : nil))
  }
}

/// The sources of a gallery, apart from a folder, which is an argument.
struct ServedSourceOptions: ParsableArguments {
  @OptionGroup var listed: ProviderOptions

  @Flag(help: ArgumentHelp("Show the hidden pictures of this gallery again.", visibility: .hidden))
  var showHidden = false

  @Option(
    help: ArgumentHelp(
      "Whether to show a RAW file or HEIC beside a JPEG of its name: prefer-jpeg leaves it out.", visibility: .hidden))
  var pair = FolderConverter.Options.Pairing.none

  var provider: String? { listed.provider }
  var urls: String? { listed.urls }

  func validate() throws {
    if pair != .none, urls != nil || provider?.hasPrefix("folder:") == false {
      throw ValidationError("--pair goes with a folder")
    }
  }
}
