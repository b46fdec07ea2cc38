package import HTTPTransport

extension ThumbnailServer {
  /// The content that a server serves, and to whom.
  package struct Configuration: Sendable {
    /// The source of the page's images; nil for no page.
    package var gallery: GallerySource?
    /// The password and links of the gallery; nil: everybody who can reach the server sees all.
    package var sharing: Sharing?
    /// The file of the hidden photos; nil: they are hidden as long as the server runs.
    package var hidden: HiddenPhotosFile?
    /// Header fields for the hosts of images.
    package var headers = HostHeaders()
    /// The names by which the server may be addressed, without the port; empty for any. Any web page can make a browser
    /// send requests to a port of this machine, but not under one of these names.
    package var hosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]
    /// Checks the signatures of addresses; nil if none are needed.
    package var signer: URLSigner?
    /// The hosts whose images need no signature. If there are none, and no signer either, all images are served.
    package var sourceHosts: [HostPattern] = []
    /// The folder whose files can be requested by path.
    package var folder: ServedFolder?
    /// Options of thumbnails by name: see `VariantPath`.
    package var presets: [String: String] = [:]
    /// The key that Nextcloud has to send with previews' images; nil: none.
    package var imaginaryKey: String?
    /// The key for removing thumbnails from the caches; nil: nothing can be removed.
    package var purgeKey: String?
    /// Whether errors on a gallery's page name files and hosts. They may, if nobody else sees the page.
    package var namesSources = true
    /// The deadline of a thumbnail, with all waiting; nil for none. Default: a minute.
    package var deadline: Duration? = .seconds(60)
    /// The time that a gallery's session waits for its page to return, as after a broken connection.
    package var sessionPatience = Duration.seconds(30)
    /// The most unfinished requests for thumbnails, including waiting ones: at most a quarter for one client and half
    /// for one origin.
    package var mostWaiting = 1024
    /// The most of them that the pipeline works on, with the same parts.
    package var mostMaking = 64

    /// The defaults.
    package init() {}
  }
}
