import TansuTestSupport
import Testing

@testable import Tansu

/// A list of documents {_id, s, n} in sections by s.
private struct SectionedDocuments {
    let list: ObservedList<BSONDocument>
    let rows: ListSections<Int>

    var sections: [Database.ListSection<Int, BSONDocument>] { rows.sections(of: list.elements) }

    init(
        _ documents: [(id: Int, s: Int, n: Int)] = [], sorted order: Database.SectionOrder<Int> = .byFirstElement
    ) throws {
        var list = ObservedList<BSONDocument>()
        for (id, s, n) in documents {
            let document: BSONDocument = ["_id": BSONValue(id), "s": BSONValue(s), "n": BSONValue(n)]
            try document.withUnsafeBytes { try list.append($0, .documents) }
        }
        self.list = list
        rows = ListSections(of: documents.map(\.s), sorted: order)
    }

    /// The ids by section.
    var ids: [[Int]] { sections.map { $0.elements.compactMap { $0["_id"]?.intValue } } }

    func changes(from old: Self) -> [Database.SectionedListChange] {
        list.changes(in: rows, from: old.list, in: old.rows)
    }
}

/// A table view that applies an update as one batch: it uses the new elements only where a step says so, and refuses what
/// table views do.
struct TableView {
    typealias Section = Database.ListSection<Int, BSONDocument>
    typealias Position = Database.ListPosition

    private(set) var problems: [String] = []
    private var removed: Set<Position> = []
    private var removedSections: Set<Int> = []
    private var insertedSections: Set<Int> = []
    private var sectionSources: [Int: Int] = [:]
    private var inserted: Set<Position> = []
    private var sources: [Position: Position] = [:]
    private var updated: Set<Position> = []

    init(_ changes: [Database.SectionedListChange]) {
        for change in changes {
            let isNew =
                switch change {
                case .removed(let position): removed.insert(position).inserted
                case .sectionRemoved(let section): removedSections.insert(section).inserted
                case .sectionInserted(let section): insertedSections.insert(section).inserted
                case .sectionMoved(let from, let to): sectionSources.updateValue(from, forKey: to) == nil
                case .inserted(let position): inserted.insert(position).inserted
                case .moved(let from, let to): sources.updateValue(from, forKey: to) == nil
                case .updated(let position): updated.insert(position).inserted
                }
            if !isNew { problems.append("twice: \(change)") }
        }
        let leaving = Set(sources.values)
        if leaving.count < sources.count { problems.append("moved twice") }
        if !leaving.isDisjoint(with: removed) { problems.append("removed and moved") }
        for position in leaving.union(removed) {
            if removedSections.contains(position.section) { problems.append("in a removed section: \(position)") }
            if sectionSources.values.contains(position.section) { problems.append("from a moved section: \(position)") }
        }
        for position in Set(sources.keys).union(inserted) {
            if sectionSources[position.section] != nil { problems.append("to a moved section: \(position)") }
        }
        for position in Set(sources.keys).union(inserted).union(updated) {
            if insertedSections.contains(position.section) { problems.append("in an inserted section: \(position)") }
        }
        let places = changes.map(Self.place(of:))
        if !zip(places, places.dropFirst()).allSatisfy({ $0.lexicographicallyPrecedes($1) }) {
            problems.append("order: \(changes)")
        }
    }

    /// Where a step is in the order that is documented.
    private static func place(of change: Database.SectionedListChange) -> [Int] {
        switch change {
        case .removed(let position): [0, -position.section, -position.item]
        case .sectionRemoved(let section): [1, -section]
        case .sectionInserted(let section), .sectionMoved(_, let section): [2, section]
        case .inserted(let position), .moved(_, let position): [3, position.section, position.item]
        case .updated(let position): [4, position.section, position.item]
        }
    }

    /// The sections after the update.
    func applied(to old: [Section], of new: [Section]) -> [[BSONDocument?]] {
        let leaving = removed.union(sources.values)
        let rest = old.indices.map { section in
            old[section].elements.indices.filter { !leaving.contains(Position(section: section, item: $0)) }
                .map { old[section].elements[$0] }
        }
        var staying = old.indices.filter { !removedSections.contains($0) && !sectionSources.values.contains($0) }
            .makeIterator()
        let count = old.count - removedSections.count + insertedSections.count
        return (0..<count).map { section -> [BSONDocument?] in
            if insertedSections.contains(section) { return new[section].elements }
            guard let source = sectionSources[section] ?? staying.next() else { return [nil] }
            var remaining = rest[source].makeIterator()
            let arriving = Set(sources.keys).union(inserted).count { $0.section == section }
            return (0..<rest[source].count + arriving).map { item in
                let position = Position(section: section, item: item)
                let element =
                    if inserted.contains(position) {
                        new[section].elements[item]
                    } else if let source = sources[position] {
                        old[source.section].elements[source.item]
                    } else {
                        remaining.next()
                    }
                return updated.contains(position) ? new[section].elements[item] : element
            }
        }
    }
}

@Suite("Steps between lists in sections")
struct SectionStepTests {
    @Test("Documents with the same value are one section, in the order of its first")
    func grouping() throws {
        let documents = [(1, 7, 0), (2, 3, 0), (3, 7, 0), (4, 5, 0), (5, 3, 0)]
        #expect(try SectionedDocuments(documents).ids == [[1, 3], [2, 5], [4]])
        #expect(try SectionedDocuments(documents).sections.map(\.value) == [7, 3, 5])
        #expect(try SectionedDocuments(documents, sorted: .ascending).ids == [[2, 5], [4], [1, 3]])
        #expect(try SectionedDocuments(documents, sorted: .descending).ids == [[1, 3], [4], [2, 5]])
        #expect(try SectionedDocuments([]).sections == [])
    }

    @Test("Delivers the steps for lists on a screen")
    func steps() throws {
        let old = try SectionedDocuments([(1, 1, 0), (2, 1, 0), (3, 2, 0), (4, 2, 0), (5, 3, 0)])
        func steps(_ documents: [(Int, Int, Int)]) throws -> [Database.SectionedListChange] {
            try SectionedDocuments(documents).changes(from: old)
        }
        #expect(old.changes(from: old) == [])
        #expect(try old.changes(from: SectionedDocuments()) == (0..<3).map { .sectionInserted(at: $0) })
        #expect(try steps([]) == (0..<3).reversed().map { .sectionRemoved(at: $0) })
        #expect(
            try steps([(1, 1, 0), (2, 1, 9), (3, 2, 0), (4, 2, 0), (5, 3, 0)])
                == [.updated(at: .init(section: 0, item: 1))])
        // An element changes its section.
        #expect(
            try steps([(1, 1, 0), (2, 2, 0), (3, 2, 0), (4, 2, 0), (5, 3, 0)]) == [
                .moved(from: .init(section: 0, item: 1), to: .init(section: 1, item: 0)),
                .updated(at: .init(section: 1, item: 0)),
            ])
        // A section is renamed.
        #expect(
            try steps([(1, 1, 0), (2, 1, 0), (3, 9, 0), (4, 9, 0), (5, 3, 0)])
                == [.sectionRemoved(at: 1), .sectionInserted(at: 1)])
        // The last element of a section goes to another one, and to a new one.
        #expect(
            try steps([(1, 1, 0), (2, 1, 0), (3, 2, 0), (4, 2, 0), (5, 2, 0)])
                == [.sectionRemoved(at: 2), .inserted(at: .init(section: 1, item: 2))])
        #expect(
            try steps([(1, 1, 0), (2, 8, 0), (3, 2, 0), (4, 2, 0), (5, 3, 0)])
                == [.removed(at: .init(section: 0, item: 1)), .sectionInserted(at: 1)])
        // A section passes another, as it is and with a change.
        #expect(
            try steps([(5, 3, 0), (1, 1, 0), (2, 1, 0), (3, 2, 0), (4, 2, 0)]) == [.sectionMoved(from: 2, to: 0)])
        #expect(
            try steps([(5, 3, 1), (1, 1, 0), (2, 1, 0), (3, 2, 0), (4, 2, 0)])
                == [.sectionMoved(from: 2, to: 0), .updated(at: .init(section: 0, item: 0))])
        #expect(
            try steps([(5, 3, 0), (6, 3, 0), (1, 1, 0), (2, 1, 0), (3, 2, 0), (4, 2, 0)])
                == [.sectionRemoved(at: 2), .sectionInserted(at: 0)])
        // An element passes others of its section.
        #expect(
            try steps([(2, 1, 0), (1, 1, 0), (3, 2, 0), (4, 2, 0), (5, 3, 0)])
                == [.moved(from: .init(section: 0, item: 1), to: .init(section: 0, item: 0))])
    }

    @Test("The steps, applied as one batch to the old list, make the new one", arguments: 0..<30)
    func applied(stream: UInt64) throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed &+ stream)
        let orders: [Database.SectionOrder<Int>] = [.byFirstElement, .ascending, .descending]
        let order = orders[Int(stream) % 3]
        var documents = (1...20).map { (id: $0, s: Int.random(in: 0..<5, using: &random), n: 0) }
        var old = try SectionedDocuments()
        for round in 0..<200 {
            for _ in 0..<Int.random(in: 1...3, using: &random) { change(&documents, &random) }
            let new = try SectionedDocuments(documents, sorted: order)
            let changes = new.changes(from: old)
            let table = TableView(changes)
            let context = "TANSU_SEED=\(seed), stream \(stream), round \(round): \(changes)"
            #expect(table.problems == [], "\(context)")
            #expect(table.applied(to: old.sections, of: new.sections) == new.sections.map(\.elements), "\(context)")
            #expect(new.changes(from: new) == [])
            old = new
        }
    }

    private func change(_ documents: inout [(id: Int, s: Int, n: Int)], _ random: inout SeededGenerator) {
        let section = Int.random(in: 0..<6, using: &random)
        let index = documents.indices.randomElement(using: &random)
        switch (Int.random(in: 0..<10, using: &random), index) {
        case (0, _): documents.shuffle(using: &random)
        case (1, let index?): documents[index].n += 1
        case (2, let index?): documents[index].s = section
        case (3, let index?): documents.remove(at: index)
        case (4, let index?):
            let document = documents.remove(at: index)
            documents.insert(document, at: Int.random(in: 0...documents.count, using: &random))
        case (5, _):  // A section disappears, or is renamed.
            let name = Int.random(in: 0..<6, using: &random)
            if Bool.random(using: &random) { documents.removeAll { $0.s == section } }
            for index in documents.indices where documents[index].s == section { documents[index].s = name }
        case (6, _) where Int.random(in: 0..<10, using: &random) == 0: documents = []
        case (7, _): documents.sort { $0.s < $1.s }
        default:
            let id = Int.random(in: 1...40, using: &random)
            if !documents.contains(where: { $0.id == id }) {
                documents.insert((id, section, 0), at: Int.random(in: 0...documents.count, using: &random))
            }
        }
    }
}
