/// The rows of a list in sections: for each section its value, and the indices of its rows.
struct ListSections<Value: Hashable & Sendable>: Sendable {
    private(set) var values: [Value] = []
    private(set) var rows: [[Int]] = []

    init() {}

    /// Rows with the same value are one section, wherever they are in the list.
    ///
    /// - Parameters:
    ///   - rowValues: The value of each row.
    ///   - order: The order of sections.
    init(of rowValues: [Value], sorted order: Database.SectionOrder<Value>) {
        var indices: [Value: Int] = [:]
        var index = 0
        for (row, value) in rowValues.enumerated() {
            // Mostly it is the section of the row before.
            if index == values.count || values[index] != value {
                index = indices[value] ?? values.count
                if index == values.count {
                    indices[value] = index
                    values.append(value)
                    rows.append([])
                }
            }
            rows[index].append(row)
        }
        guard let areInIncreasingOrder = order.areInIncreasingOrder else { return }
        let sorted = values.indices.sorted { areInIncreasingOrder(values[$0], values[$1]) }
        (values, rows) = (sorted.map { values[$0] }, sorted.map { rows[$0] })
    }

    /// The sections of the rows' elements.
    func sections<Element>(of elements: [Element]) -> [Database.ListSection<Value, Element>] {
        zip(values, rows).map { value, rows in
            Database.ListSection(value: value, elements: rows.map { elements[$0] })
        }
    }

    /// The position of each row.
    fileprivate func positions(count: Int) -> [Database.ListPosition] {
        var positions = [Database.ListPosition](repeating: .init(section: 0, item: 0), count: count)
        for (section, rows) in rows.enumerated() {
            for (item, row) in rows.enumerated() { positions[row] = .init(section: section, item: item) }
        }
        return positions
    }
}

extension ObservedList {
    /// The steps from another list in sections to this one.
    ///
    /// A list view cannot move a section and change what it contains in one update. A section of which that would be
    /// required is removed and inserted.
    func changes<Value>(
        in sections: ListSections<Value>, from old: Self, in oldSections: ListSections<Value>
    ) -> [Database.SectionedListChange] {
        let origins = origins(in: old)
        let oldIndices = Dictionary(zip(oldSections.values, 0...)) { first, _ in first }
        // For each new section the old one's index; `nil` for those that are inserted.
        var sources = sections.values.map { oldIndices[$0] }
        let staying = sources.longestIncreasing
        for (section, source) in sources.enumerated() where !staying.contains(section) {
            guard let source else { continue }
            if sections.rows[section].map({ origins[$0] }) != oldSections.rows[source] { sources[section] = nil }
        }
        let kept = Set(sources.compactMap { $0 })

        // For each new row its old position, when both of its sections are kept.
        let oldPositions = oldSections.positions(count: old.rows.count)
        var rowSources = [Database.ListPosition?](repeating: nil, count: rows.count)
        var remaining: Set<Int> = []
        for (section, source) in sources.enumerated() where source != nil {
            for row in sections.rows[section] {
                guard let origin = origins[row], kept.contains(oldPositions[origin].section) else { continue }
                rowSources[row] = oldPositions[origin]
                remaining.insert(origin)
            }
        }

        var changes: [Database.SectionedListChange] = []
        for section in oldSections.rows.indices.reversed() where kept.contains(section) {
            for (item, row) in oldSections.rows[section].enumerated().reversed() where !remaining.contains(row) {
                changes.append(.removed(at: .init(section: section, item: item)))
            }
        }
        for section in oldSections.rows.indices.reversed() where !kept.contains(section) {
            changes.append(.sectionRemoved(at: section))
        }
        for (section, source) in sources.enumerated() {
            guard let source else {
                changes.append(.sectionInserted(at: section))
                continue
            }
            if !staying.contains(section) { changes.append(.sectionMoved(from: source, to: section)) }
        }
        var updates: [Database.SectionedListChange] = []
        for (section, source) in sources.enumerated() where source != nil {
            let rowsOfSection = sections.rows[section]
            let stayingItems = rowsOfSection.map { row in
                rowSources[row].flatMap { $0.section == source ? $0.item : nil }
            }.longestIncreasing
            for (item, row) in rowsOfSection.enumerated() {
                let position = Database.ListPosition(section: section, item: item)
                guard let rowSource = rowSources[row], let origin = origins[row] else {
                    changes.append(.inserted(at: position))
                    continue
                }
                if !stayingItems.contains(item) { changes.append(.moved(from: rowSource, to: position)) }
                if old.rows[origin].document.bytes != rows[row].document.bytes {
                    updates.append(.updated(at: position))
                }
            }
        }
        return changes + updates
    }
}
