/// Lays out the content of a gallery in sections of cells.
///
/// A pure function: equal content gives equal sections, and ids are stable across snapshots, so that a front end can
/// diff them.
public protocol GalleryViewModel: Sendable {
  /// The sections, from top to bottom.
  func sections(of content: GalleryContent) -> [GallerySection]
}

/// The standard layout: a title, messages, the photos, and a footer with the loading indicator or the attributions.
///
/// Empty sections are left out. The ids of the sections are `header`, `notices`, `photos` and `footer`.
public struct StandardGalleryViewModel: GalleryViewModel {
  /// Whether there are messages.
  package var hasNotices = true

  /// The layout with everything.
  public init() {}

  package init(hasNotices: Bool) { self.hasNotices = hasNotices }

  /// The sections that are not empty.
  public func sections(of content: GalleryContent) -> [GallerySection] {
    let sections = [
      GallerySection(id: "header", cells: header(of: content)),
      GallerySection(id: "notices", cells: hasNotices ? notices(of: content) : []),
      GallerySection(id: "photos", cells: content.items.map { .photo($0) }),
      GallerySection(id: "footer", cells: footer(of: content)),
    ]
    return sections.filter { !$0.cells.isEmpty }
  }

  private func header(of content: GalleryContent) -> [GalleryCell] {
    guard let query = content.query else { return [] }
    let count = content.items.count
    let ofTotal = content.total.map { $0 > count ? " of \($0)" : "" } ?? ""
    let pictures = count == 1 && ofTotal.isEmpty ? "picture" : "pictures"
    let subtitle = "\(count)\(ofTotal) \(pictures) from \(content.provider)\(content.isOffline ? ", offline" : "")"
    return [.header(name: "title", title: query.isEmpty ? "Pictures" : query, subtitle: subtitle)]
  }

  private func notices(of content: GalleryContent) -> [GalleryCell] {
    guard let text = content.state.message else { return [] }
    return switch content.state {
    case .empty: [.message(.empty, text: text, canRetry: false)]
    case .failed: [.message(.failed, text: text, canRetry: true)]
    case .offline: [.message(.offline, text: text, canRetry: true)]
    case .idle, .loading, .loaded, .loadingNextPage: []
    }
  }

  private func footer(of content: GalleryContent) -> [GalleryCell] {
    var cells: [GalleryCell] = []
    if content.state.isLoading {
      cells.append(.loading(content.items.isEmpty ? "Loading" : "Loading more"))
    } else if content.state == .loaded, !content.hasMore, !content.isOffline {
      cells.append(.text(name: "end", text: "That is all"))
    }
    if let text = SkippedItem.message(of: content.skipped) {
      cells.append(.text(name: "skipped", text: "left out: \(text)"))
    }
    return cells + attributions(of: content.items)
  }

  /// One attribution for each combination of source and terms, in order of first appearance.
  private func attributions(of items: [GalleryItem]) -> [GalleryCell] {
    var texts: Set<String> = []
    var cells: [GalleryCell] = []
    var last: Photo?
    for item in items where item.photo.provider != last?.provider || item.photo.licence != last?.licence {
      let photo = item.photo
      last = photo
      let text = "Pictures from \(photo.provider)" + (photo.licence.map { ", \($0.name)" } ?? "")
      if texts.insert(text).inserted { cells.append(.attribution(text: text, url: photo.licence?.url)) }
    }
    return cells
  }
}
