public import ThumbnailCore

/// What the grid shows. A change costs what it changes; setting items again leaves the work for those alone that stay
/// where they are.
extension Prefetcher {
  /// Items under one header.
  public struct Section: Sendable {
    /// The pictures in their order; nil for a cell without one, such as a text or a message.
    public var items: [ImageSource?]
    /// The height of the header, in points; 0 for none.
    public var headerHeight: Double

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
  public var itemCount: Int { state.withLock { $0.items.count } }

  /// Puts other items in place of all, in one section; nil for a cell without a picture.
  public func setItems(_ items: [ImageSource?]) {
    setSections([Section(items: items)])
  }

  /// Puts other sections in place of all.
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

  /// Adds items at the end of the last section.
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

  /// Adds a section below the others.
  public func append(_ section: Section) {
    change { state in
      state.items.append(contentsOf: section.items)
      state.schedule.changeLayout { $0.append(section.layout) }
    }
  }

  /// Takes an item out; those behind it move up. Nothing happens when there is no such item.
  public func remove(at index: Int) {
    change { state in
      guard let place = state.schedule.layout.gridIndex(ofItem: index) else { return }
      state.items.remove(at: index)
      let dropped = state.schedule.remove(index)
      state.schedule.changeLayout { layout in
        layout.setItemCount(layout.sections[place.section].itemCount - 1, inSection: place.section)
      }
      state.drop(dropped.map { [$0] } ?? [])
    }
  }

  /// Puts another picture in an item's place. Nothing happens when there is no such item.
  public func replace(at index: Int, with item: ImageSource?) {
    change { state in
      guard state.items.indices.contains(index) else { return }
      state.items[index] = item
      state.drop(state.schedule.replace(index).map { [$0] } ?? [])
    }
  }
}
