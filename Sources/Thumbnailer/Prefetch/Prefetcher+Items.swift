public import Foundation
public import ThumbnailCore

/// The items of the grid. A change takes time proportional to its size; when all items are set again, only requests for
/// items with an unchanged index continue.
extension Prefetcher {
  /// The number of items.
  public var itemCount: Int { state.withLock { $0.items.count } }

  /// Replaces all items; nil for a cell without an image.
  public func setItems(_ items: [ImageSource?]) {
    change { state in
      let former = state.items
      state.items = items
      state.schedule.changeLayout { $0.itemCount = items.count }
      let dropped = state.schedule.keep { index in
        items.indices.contains(index) && former.indices.contains(index) && items[index] == former[index]
      }
      state.drop(dropped)
    }
  }

  /// Replaces all items by images on the web or local files; nil for a cell without an image.
  public func setItems(urls: [URL?]) { setItems(urls.map { $0.map(ImageSource.named(by:)) }) }

  /// Appends items.
  public func append(contentsOf items: [ImageSource?]) {
    change { state in
      state.items.append(contentsOf: items)
      state.schedule.changeLayout { $0.itemCount += items.count }
    }
  }
}
