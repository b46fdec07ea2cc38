public import Foundation
public import ThumbnailCore

/// The items of the grid. A change takes time proportional to its size; when all items are set again, only requests for
/// items with an unchanged index continue.
extension Prefetcher {
  /// The items under one header.
  public struct Section: Sendable {
    /// The source images in order; nil for a cell without one, such as a text or a message.
    package var items: [ImageSource?]
    /// The height of the header, in points; 0 for none.
    package var headerHeight: Double

    /// A section.
    public init(items: [ImageSource?], headerHeight: Double = 0) {
      self.items = items
      self.headerHeight = headerHeight
    }

    fileprivate var layout: GridLayout.Section {
      GridLayout.Section(itemCount: items.count, headerHeight: headerHeight)
    }
  }

  /// The number of items in all sections.
  package var itemCount: Int { state.withLock { $0.items.count } }

  /// Replaces all items by one section; nil for a cell without an image.
  public func setItems(_ items: [ImageSource?]) {
    setSections([Section(items: items)])
  }

  /// Replaces all items by images on the web or local files; nil for a cell without an image.
  public func setItems(urls: [URL?]) { setItems(urls.map { $0.map(ImageSource.named(by:)) }) }

  /// Replaces all sections.
  public func setSections(_ sections: [Section]) {
    let items = sections.flatMap(\.items)
    change { state in
      let former = state.items
      state.items = items
      state.schedule.changeLayout { $0.setSections(sections.map(\.layout)) }
      let dropped = state.schedule.keep { index in
        items.indices.contains(index) && former.indices.contains(index) && items[index] == former[index]
      }
      state.drop(dropped)
    }
  }

  /// Appends items to the last section.
  public func append(contentsOf items: [ImageSource?]) {
    change { state in
      state.items.append(contentsOf: items)
      state.schedule.changeLayout { layout in
        guard let last = layout.sections.indices.last else {
          return layout.append(GridLayout.Section(itemCount: items.count))
        }
        layout.setItemCount(layout.sections[last].itemCount + items.count, inSection: last)
      }
    }
  }

  /// Appends a section.
  public func append(_ section: Section) {
    change { state in
      state.items.append(contentsOf: section.items)
      state.schedule.changeLayout { $0.append(section.layout) }
    }
  }

  /// Removes an item; those after it move up. Has no effect if there is no such item.
  public func remove(at index: Int) {
    change { state in
      guard let place = state.schedule.layout.place(ofItem: index) else { return }
      state.items.remove(at: index)
      let dropped = state.schedule.remove(index)
      state.schedule.changeLayout { layout in
        layout.setItemCount(layout.sections[place.section].itemCount - 1, inSection: place.section)
      }
      state.drop(dropped.map { [$0] } ?? [])
    }
  }

  /// Replaces the image of an item. Has no effect if there is no such item.
  public func replace(at index: Int, with item: ImageSource?) {
    change { state in
      guard state.items.indices.contains(index) else { return }
      state.items[index] = item
      state.drop(state.schedule.replace(index).map { [$0] } ?? [])
    }
  }
}
