import Checking
import Foundation
import Tansu

/// A session with the notes app: the operations of its views, with checks after each step.
@main
struct NotesExample {
    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }

        try createDatabaseOfFirstRelease(folder.path)
        let milk = try await useTheApp(folder.path)
        try await reopen(folder.path, milk)
        print("all checks passed")
    }

    /// Creates a database in the format of the first release, whose notes had a text and a date.
    static func createDatabaseOfFirstRelease(_ path: String) throws {
        let db = try Database(path: path)
        try db.collection("notes").save(["text": "Ideas\nA boat.", "changed": .date(day(0))])
        try db.close()
    }

    static func useTheApp(_ path: String) async throws -> Note {
        let store = try NotesStore(path: path)
        var view = ListView(try store.observe())
        try await view.follow(to: ["Ideas"])
        check(view.rows.first?.text == "A boat.", "the text of a migrated note begins after its title")

        let milk = Note(title: "Shopping", text: "Milk", tags: ["home"], changed: day(1))
        try await store.save(milk)
        try await store.save(Note(title: "Talk", tags: ["work", "home"], isPinned: true, changed: day(2)))
        try await view.follow(to: ["Talk", "Shopping", "Ideas"])
        try await show(store, .tagged("work"), ["Talk"])
        try await show(store, .containing("boat"), ["Ideas"])

        // Two windows update one note concurrently. No update is lost.
        async let left = store.edit(milk.id, at: day(3)) { $0.text += ", bread" }
        async let right = store.edit(milk.id, at: day(3)) { $0.isPinned = true }
        _ = try await (left, right)
        try await view.follow(to: ["Shopping", "Talk", "Ideas"])
        let shopping = try await store.notes.get(milk.id)
        check(shopping?.text == "Milk, bread" && shopping?.isPinned == true, "both updates are applied")

        try await store.renameTag("home", to: "house")
        try await view.follow(to: ["Shopping", "Talk", "Ideas"]) { !$0.contains { $0.tags.contains("home") } }
        let tags = try await store.tags()
        check(tags == ["house", "work"], "\(tags) are the tags")

        for talk in view.rows where talk.title == "Talk" { try await store.remove(talk.id) }
        try await view.follow(to: ["Shopping", "Ideas"])

        try await store.db.close()
        let end = await view.waitForEnd() as? TansuError
        check(end?.code == .closed, "\(String(describing: end)) has the code of a closed database")
        return milk
    }

    static func reopen(_ path: String, _ milk: Note) async throws {
        let store = try NotesStore(path: path)
        try await show(store, .all, ["Shopping", "Ideas"])
        var wanted = milk
        wanted.text = "Milk, bread"
        wanted.tags = ["house"]
        wanted.isPinned = true
        wanted.changed = day(3)
        let stored = try await store.notes.get(milk.id)
        check(stored == wanted, "\(String(describing: stored)) is the note")
        let indexes = try await store.notes.indexes().map(\.name)
        check(indexes == ["by_date", "by_tag"], "\(indexes) are the indexes")
    }

    /// Prints a list and checks it.
    static func show(_ store: NotesStore, _ filter: NoteFilter, _ wanted: [String]) async throws {
        let titles = try await store.list(filter).all().map(\.title)
        print("\(filter):", titles.joined(separator: ", "))
        check(titles == wanted, "\(filter) shows \(titles), not \(wanted)")
    }

    private static func day(_ number: Int) -> Date {
        Date(timeIntervalSince1970: 1_700_000_000 + Double(number) * 86_400)
    }
}
