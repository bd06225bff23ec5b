import Checking
import Tansu

/// A list view of the app: it applies the changes of an observation to its rows, like a table view.
struct ListView {
    typealias Updates = Database.Observation<Note, Database.ListUpdate<Note>>

    private(set) var rows: [Note] = []
    private var updates: Updates.AsyncIterator

    init(_ updates: Updates) {
        self.updates = updates.makeAsyncIterator()
    }

    /// Applies updates until the list has the given titles. One update may contain several changes.
    mutating func follow(to titles: [String], _ isShown: ([Note]) -> Bool = { _ in true }) async throws {
        while rows.map(\.title) != titles || !isShown(rows) {
            guard let update = try await updates.next() else { return check(false, "the observation continues") }
            apply(update)
        }
        print("the list shows", titles.joined(separator: ", "))
    }

    /// Applies updates until the observation ends, and returns its error.
    mutating func waitForEnd() async -> (any Error)? {
        do {
            while let update = try await updates.next() { apply(update) }
            return nil
        } catch {
            return error
        }
    }

    private mutating func apply(_ update: Database.ListUpdate<Note>) {
        let old = rows
        var removed: Set<Int> = []
        var inserted: [Int: Note] = [:]
        for change in update.changes {
            switch change {
            case .removed(let index): removed.insert(index)
            case .inserted(let index): inserted[index] = update.elements[index]
            case .moved(let from, let to):
                removed.insert(from)
                inserted[to] = old[from]
            case .updated: break
            }
        }
        rows = old.indices.filter { !removed.contains($0) }.map { old[$0] }
        for (index, note) in inserted.sorted(by: { $0.key < $1.key }) { rows.insert(note, at: index) }
        for case .updated(let index) in update.changes { rows[index] = update.elements[index] }
        check(rows == update.elements, "the changes give the new list")
    }
}
