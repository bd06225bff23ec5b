import TansuBSON

// Change tracking, for modules on top of this one that have to look at every document that was changed.
extension Session {
    /// The options of a collection as the engine tells them; `nil` when there is none of that name.
    package func collectionOptions(_ name: String) throws -> BSONDocument? {
        do {
            return try engine.collectionInfo(name)["options"]?.documentValue
        } catch let error as TansuError where error.code == .notFound {
            return nil
        }
    }

    /// The collection that gets the `_id` of every document of a collection that a commit changes; `nil` when there is
    /// none.
    package func changeTracking(of name: String) throws -> String? {
        try collectionOptions(name)?["changeTracking"]?.stringValue
    }

    /// Has a collection get the `_id` of every document of another one that a commit changes from now on; `nil` ends it.
    package func setChangeTracking(_ target: String?, of name: String) throws {
        try checkMayWrite()
        try engine.ensureCollection(name, options: ["changeTracking": target.map { .string($0) } ?? false])
    }

    /// The collections whose changes another one gets.
    package func collectionsTracked(by target: String) throws -> [String] {
        let all = try engine.collectionList()["collections"]?.arrayValue.map(Array.init) ?? []
        return all.compactMap { entry in
            let info = entry.documentValue
            let tracking = info?["options"]?.documentValue?["changeTracking"]?.stringValue
            return tracking == target ? info?["name"]?.stringValue : nil
        }
    }
}

extension Database {
    /// Waits for commits, for modules on top of this one that look at the database after each.
    package final class CommitWatch: Sendable {
        private let engine: EngineDatabase

        package init(_ database: Database) {
            engine = database.engine
            engine.commits.retain()
        }

        deinit { engine.commits.release() }

        /// A mark for ``wait(after:)``, taken before looking.
        package func mark() throws -> UInt64 { try engine.commits.mark(engine) }

        /// Waits until there was a commit after the mark, or the task is cancelled.
        package func wait(after mark: UInt64) async { await engine.commits.wait(after: mark) }
    }
}
