import TansuObjects

/// What one commit did, for a log or for what sends it on.
package struct ServiceEvent: Sendable, Hashable {
    package var inserted: [String: Int] = [:]
    package var updated: [String: Int] = [:]
    package var deleted: [String: Int] = [:]
    /// The number of the commit.
    package var sequence = 0
}

extension FieldService {
    /// The board: now, and after each commit that changes it.
    package func observeBoard() throws -> Database.Observation<WorkOrder, Database.ListUpdate<WorkOrder>> {
        try board().observeChanges()
    }

    /// The next commits, as numbers of documents by collection.
    package func events() -> some AsyncSequence<ServiceEvent, any Error> & Sendable {
        db.objectChanges().map { changes in
            func numbers(_ keys: Set<ObjectKey>) -> [String: Int] {
                Dictionary(grouping: keys, by: \.collection).mapValues(\.count)
            }
            return ServiceEvent(
                inserted: numbers(changes.inserted), updated: numbers(changes.updated),
                deleted: numbers(changes.deleted), sequence: changes.sequence)
        }
    }
}
