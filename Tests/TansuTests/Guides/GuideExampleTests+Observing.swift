import Foundation
import Tansu
import TansuTestSupport
import Testing

/// A table view that notes its steps: sections as "1", rows as "1.0".
private struct Table {
    private(set) var steps: [String] = []

    mutating func insertSection(_ section: Int) { steps.append("+ \(section)") }
    mutating func deleteSection(_ section: Int) { steps.append("- \(section)") }
    mutating func moveSection(_ from: Int, _ to: Int) { steps.append("\(from) to \(to)") }
    mutating func insertRow(_ row: Database.ListPosition) { steps.append("+ \(row.section).\(row.item)") }
    mutating func deleteRow(_ row: Database.ListPosition) { steps.append("- \(row.section).\(row.item)") }
    mutating func reloadRow(_ row: Database.ListPosition) { steps.append("! \(row.section).\(row.item)") }
    mutating func moveRow(_ from: Database.ListPosition, _ to: Database.ListPosition) {
        steps.append("\(from.section).\(from.item) to \(to.section).\(to.item)")
    }
}

// ObservingChanges.md.
extension GuideExampleTests {
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func observingChanges() async throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        struct Note: Codable, Sendable, Identifiable {
            var id = ObjectID()
            var title: String
        }

        let db = try await Database.open(.memory)
        let notes = try db.collection("notes", of: Note.self)
        try await notes.save(Note(title: "milk"))

        for try await list in notes.find().sorted(by: "title").observe() {
            print(list.map(\.title))  // ["milk"], ["bread", "milk"]
            if list.count == 2 { break }
            try await notes.save(Note(title: "bread"))
        }

        var titles: [String] = []
        func remove(at index: Int) { titles.remove(at: index) }
        func insert(_ note: Note, at index: Int) { titles.insert(note.title, at: index) }
        func move(_ from: Int, _ to: Int) { Issue.record("No document moves here: \(from) to \(to)") }
        func reload(_ note: Note, at index: Int) { titles[index] = note.title }
        for try await update in notes.find().sorted(by: "title").observeChanges() {
            for change in update.changes {
                switch change {
                case .removed(let index): remove(at: index)  // of the old list
                case .inserted(let index): insert(update.elements[index], at: index)
                case .moved(let from, let to): move(from, to)  // from the old, to the new list
                case .updated(let index): reload(update.elements[index], at: index)
                }
            }
            print(titles)  // ["bread", "milk"], ["bread", "jam"]
            if titles.contains("jam") { break }
            try await notes.update(["title": "milk"], ["$set": ["title": "jam"]])
        }

        struct Contact: Codable, Sendable, Identifiable {
            var id: Int
            var name: String
            var team: String
        }

        let contacts = try db.collection("contacts", of: Contact.self)
        try await contacts.save([Contact(id: 1, name: "Ann", team: "red"), Contact(id: 2, name: "Bob", team: "blue")])
        let byName = try contacts.find().sorted(by: \.name)

        for try await sections in byName.observe(sectionedBy: \.team, sorted: .ascending) {
            print(sections.map(\.value))  // ["blue", "red"], ["red"]
            if sections.count == 1 { break }
            try await contacts.update(id: 2) { $0.team = "red" }
        }

        var table = Table()
        for try await update in byName.observeChanges(sectionedBy: \.team) {
            for change in update.changes {
                switch change {
                case .removed(let position): table.deleteRow(position)
                case .sectionRemoved(let section): table.deleteSection(section)
                case .sectionInserted(let section): table.insertSection(section)
                case .sectionMoved(let from, let to): table.moveSection(from, to)
                case .inserted(let position): table.insertRow(position)
                case .moved(let from, let to): table.moveRow(from, to)
                case .updated(let position): table.reloadRow(position)  // after the batch
                }
            }
            print(update.changes.count, update.sections.map(\.value))  // 1 ["red"], 2 ["red", "blue"]
            if update.sections.count == 2 { break }
            try await contacts.update(id: 2) { $0.team = "blue" }
        }
        #expect(table.steps == ["+ 0", "- 0.1", "+ 1"])

        struct Summary: Equatable { var notes: Int; var tags: [String] }

        let summaries = db.observe { snapshot in
            let notes = try snapshot.collection("notes", of: Note.self)
            return Summary(
                notes: try notes.count(), tags: try snapshot.collection("tags").find().all().map(\.description))
        }
        for try await summary in summaries {
            print(summary.notes, summary.tags.count)  // 2 0, 2 1
            if summary.tags.count == 1 { break }
            try await db.collection("tags").save(["_id": "home"])
        }

        @MainActor final class NotesModel {
            let list: Database.ObservedValue<[Note]>

            init(_ notes: Database.Collection<Note>) {
                list = Database.ObservedValue(notes.find().sorted(by: "title").observe())
            }

            var titles: [String] { (list.value ?? []).map(\.title) }
        }
        let model = await NotesModel(notes)
        while await model.titles != ["bread", "jam"] { await Task.yield() }

        @MainActor func showPages() async -> [String] {
            var lines: [String] = []
            func print(_ items: Any...) { lines.append(items.map { "\($0)" }.joined(separator: " ")) }

            let list = Database.FetchController(
                notes.find().sorted(by: "title"), pageSize: 50, sectionedBy: { String($0.title.prefix(1)) })
            list.onUpdate = { list in print(list.sections.map(\.value), list.changes.count) }  // ["b", "j"] 2, ["j"] 1
            while list.isLoading { await Task.yield() }
            if list.hasMore { list.loadMore() }
            list.query = notes.find(["title": ["$begin": "j"]]).sorted(by: "title")
            while list.isLoading { await Task.yield() }
            return lines
        }
        for line in await showPages() { print(line) }

        let changes = notes.changes()
        try await notes.save(Note(title: "eggs"))
        try await notes.remove(["title": "bread"])

        var lastSeen = 0
        for try await change in changes {
            print(change.kind, change.after?.title ?? "-")  // insert eggs, remove -
            lastSeen = change.resumeToken
            if change.kind == .remove { break }
        }

        try await notes.save(Note(title: "tea"))
        for try await change in notes.changes(since: lastSeen) {
            print(change.after?.title ?? "-")  // tea
            break
        }

        #expect(try printed.lines == shown(by: "ObservingChanges"))
    }
}
