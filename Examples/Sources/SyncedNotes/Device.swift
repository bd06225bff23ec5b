import Checking
import Foundation
import Tansu
import TansuBSON
import TansuSync

/// The app on one device: it works with its own database, and syncs with the server while it is online.
final class Device {
    let name: String
    let db: Database
    let notes: Database.Collection<Note>
    /// Keeps the resolver.
    private let replicated: ReplicatedCollection
    private var replication: Replication?

    init(_ name: String, in folder: URL) throws {
        self.name = name
        db = try Database(path: folder.appendingPathComponent("\(name).tansu").path)
        notes = try db.collection("notes", of: Note.self)
        replicated = try notes.enableReplication(resolver: Self.merge)
    }

    /// Both devices have changed one note: what either has written stays. The result is the same on every device.
    private static func merge(_ conflict: RevisionConflict) -> ConflictResolution {
        var fields = conflict.winner.fields
        var items = texts(conflict.winner.fields["items"])
        for item in texts(conflict.other.fields["items"]) where !items.contains(item) { items.append(item) }
        fields["items"] = .array(BSONArray(items.sorted().map { .string($0) }))
        return .merge(fields)
    }

    private static func texts(_ value: BSONValue?) -> [String] {
        guard case .array(let array) = value else { return [] }
        return array.compactMap(\.stringValue)
    }

    /// Syncs from now on, both ways, until ``goOffline()``.
    func goOnline(_ server: String) async throws {
        replication = try await notes.replicate(with: server, .both, .continuous)
    }

    func goOffline() async {
        await replication?.stop()
        replication = nil
    }

    /// Waits until the list, as a view of the app observes it, is as expected.
    func wait(_ expectation: String, _ isExpected: @escaping @Sendable ([Note]) -> Bool) async throws {
        let observation = try notes.find().sorted(by: \.title).observe()
        let seconds = 60
        let isSeen = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                for try await list in observation where isExpected(list) { return true }
                return false
            }
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                return false
            }
            let first = try await group.next() ?? false
            group.cancelAll()
            return first
        }
        check(isSeen, "\(name): \(expectation) within \(seconds) s; \(String(describing: replication?.status))")
        print("\(name): \(expectation)")
    }
}
