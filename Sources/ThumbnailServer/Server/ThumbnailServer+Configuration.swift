package import HTTPTransport

extension ThumbnailServer {
  /// What a server serves, and to whom.
  package struct Configuration: Sendable {
    /// What the page shows; nil for no page.
    package var gallery: GallerySource?
    /// Where is kept what was hidden in the gallery; nil: it is hidden for as long as the server runs.
    package var hidden: HiddenPhotosFile?
    /// Header fields for the hosts that images come from.
    package var headers = HostHeaders()
    /// The names by which the server may be addressed, without the port; empty for any. Any web page may have a browser
    /// send requests to a port of this machine, but not under one of these names.
    package var hosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]
    /// Checks the signatures of addresses; nil where none are needed.
    package var signer: URLSigner?
    /// The hosts whose images need no signature. If there are none, and no signer either, all images are served.
    package var sourceHosts: [HostPattern] = []
    /// The folder whose files may be asked for by path.
    package var folder: ServedFolder?
    /// Options of thumbnails by name: see `VariantPath`.
    package var presets: [String: String] = [:]
    /// What clients of imaginary have to send as their key; nil: none.
    package var imaginaryKey: String?
    /// What imgproxy's addresses are signed with; nil: they are served as other addresses are.
    package var imgproxyKey: ImgproxyKey?
    /// What has to be sent to remove thumbnails from the caches; nil: nobody may.
    package var purgeKey: String?
    /// Sent with errors of thumbnails that were asked for by address, in place of their description.
    package var fallback: FallbackImage?
    /// Whether errors on a gallery's page name files and hosts, as they may where nobody else sees the page.
    package var namesSources = true
    /// How long a thumbnail may take, with all waiting; nil for as long as it takes. Default: a minute.
    package var deadline: Duration? = .seconds(60)
    /// `Cache-Control` of thumbnails that were asked for by address.
    package var storing = "public, max-age=86400, stale-while-revalidate=604800, stale-if-error=604800"
    /// The most requests whose thumbnails are being made at once, waiting ones included: those of one client are a
    /// quarter, those for one origin half.
    package var mostWaiting = 1024
    /// The most of them that the pipeline works on, with the same parts.
    package var mostMaking = 64
    /// The requests that a client may have a second; nil: any number.
    package var requestsPerSecond: Double?
    /// The longest image that is uploaded, in bytes.
    package var longestUpload = 64 << 20
    /// The longest message of a page, in bytes.
    package var longestMessage = 64 << 10
    /// Where responses are logged; nil: nowhere.
    package var log: AccessLog?

    /// The defaults.
    package init() {}
  }
}
