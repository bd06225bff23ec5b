import Checking
import Tansu

/// Stands for the app's list on the screen: it follows the store step by step, as a table view does with its rows.
struct ListView {
    typealias Updates = Database.Observation<Note, Database.ListUpdate<Note>>

    private(set) var rows: [Note] = []
    private var updates: Updates.AsyncIterator

    init(_ updates: Updates) {
        self.updates = updates.makeAsyncIterator()
    }

    /// Takes in what changed until these titles are shown. Several changes may come as one, or one after another.
    mutating func follow(to titles: [String], _ isShown: ([Note]) -> Bool = { _ in true }) async throws {
        while rows.map(\.title) != titles || !isShown(rows) {
            guard let update = try await updates.next() else { return check(false, "watching goes on") }
            apply(update)
        }
        print("the list shows", titles.joined(separator: ", "))
    }

    /// Waits for what comes next; the error with which watching ends.
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
        var gone: Set<Int> = []
        var coming: [Int: Note] = [:]
        for change in update.changes {
            switch change {
            case .removed(let index): gone.insert(index)
            case .inserted(let index): coming[index] = update.elements[index]
            case .moved(let from, let to):
                gone.insert(from)
                coming[to] = old[from]
            case .updated: break
            }
        }
        rows = old.indices.filter { !gone.contains($0) }.map { old[$0] }
        for (index, note) in coming.sorted(by: { $0.key < $1.key }) { rows.insert(note, at: index) }
        for case .updated(let index) in update.changes { rows[index] = update.elements[index] }
        check(rows == update.elements, "the steps lead to the new list")
    }
}
