public import Foundation

extension Database {
    /// The steps that bring a database from what an app's first release made to what this one wants, in their order.
    ///
    /// For example:
    ///
    /// ```swift
    /// var migrations = Database.Migrations()
    /// migrations.add("people by name") { step in
    ///     try step.collection("people").ensureIndex("by_name", on: ["name": .ascending])
    /// }
    /// migrations.add("ages are numbers") { step in
    ///     try step.rewrite("people") { person in
    ///         if let text = person["age"]?.stringValue { person["age"] = Int(text).map { BSONValue($0) } }
    ///     }
    /// }
    /// try db.migrate(migrations)
    /// ```
    ///
    /// Each step runs once per database, in a transaction of its own that also records it. Once released, a step keeps
    /// its name, position and meaning; later changes are new steps at the end.
    public struct Migrations: Sendable {
        struct Step: Sendable {
            let name: String
            let body: @Sendable (MigrationStep) throws -> Void
        }

        private(set) var steps: [Step] = []

        /// No steps.
        public init() {}

        /// Adds a step at the end.
        ///
        /// - Parameters:
        ///   - name: The permanent and unique name of the step.
        ///   - body: What it does. Its error rolls the step back and ends the migration.
        public mutating func add(_ name: String, _ body: @escaping @Sendable (MigrationStep) throws -> Void) {
            steps.append(Step(name: name, body: body))
        }

        /// The steps' names in their order.
        public var names: [String] { steps.map(\.name) }

        /// Throws `.invalidArgument` when names are empty or not unique.
        func check() throws {
            var seen: Set<BytewiseText> = []
            for name in names {
                if name.isEmpty { throw TansuError(.invalidArgument, "A migration step has no name; name every step") }
                if !seen.insert(BytewiseText(name)).inserted {
                    throw TansuError(
                        .invalidArgument,
                        "Two migration steps have the name \"\(name)\"; give every step a name of its own",
                        context: name)
                }
            }
        }

        /// How many steps a database has done, whose record is given in order.
        func done(_ applied: [String]) throws -> Int {
            let names = names
            let unknown = applied.filter { !names.contains($0) }
            guard unknown.isEmpty else {
                throw TansuError(
                    .version, "A newer version of this app has migrated the database; update the app",
                    context: unknown.joined(separator: ", "))
            }
            for (known, recorded) in zip(names, applied) where known != recorded {
                throw TansuError(
                    .invalidArgument,
                    "Migration step \"\(known)\" is at the position of \"\(recorded)\", which the database has done;"
                        + " keep the order of released steps and add new ones at the end", context: known)
            }
            return applied.count
        }
    }

    /// A step that a database has done.
    public struct AppliedMigration: Sendable, Hashable {
        /// The step's name.
        public let name: String

        /// When it was done.
        public let date: Date
    }

    /// The progress of a migration.
    public struct MigrationProgress: Sendable, Hashable {
        /// The running step.
        public let step: String

        /// Its number, counted from 0.
        public let number: Int

        /// How many steps there are.
        public let count: Int

        /// How many documents the step has rewritten so far; `nil` when it does not rewrite.
        public let documents: Progress?
    }
}

extension Database {
    /// The running step of a migration: its transaction, and operations for steps.
    public final class MigrationStep: Sendable {
        /// The step's transaction.
        public let transaction: Transaction

        private let report: @Sendable (Progress?) throws -> Void

        init(_ transaction: Transaction, _ report: @escaping @Sendable (Progress?) throws -> Void) {
            self.transaction = transaction
            self.report = report
        }

        /// The collection with a name, of documents.
        ///
        /// - Parameter name: 1 to 120 bytes.
        /// - Throws: ``TansuError`` with `.invalidName`.
        public func collection(_ name: String) throws -> Collection<BSONDocument> {
            try transaction.collection(name)
        }

        /// The collection with a name, of values of a Codable type.
        ///
        /// - Parameters:
        ///   - name: 1 to 120 bytes.
        ///   - type: What its documents are decoded as.
        /// - Throws: ``TansuError`` with `.invalidName`.
        public func collection<Element: Codable & Sendable>(
            _ name: String, of type: Element.Type
        ) throws -> Collection<Element> {
            try transaction.collection(name, of: type)
        }

        /// Changes documents by a closure, one after another. The step may write up to 1 GiB. The operators of
        /// `collection(_:).update` are faster where they suffice.
        ///
        /// - Parameters:
        ///   - collection: The collection's name.
        ///   - query: Which documents; all when empty.
        ///   - body: What to change in each. Its `_id` must stay; its error ends the migration.
        /// - Returns: How many documents changed.
        /// - Throws: The closure's error, and as `update`; what the migration's `progress` throws.
        @discardableResult
        public func rewrite(
            _ collection: String, _ query: BSONDocument = [:], _ body: (inout BSONDocument) throws -> Void
        ) throws -> Int {
            let documents = try self.collection(collection)
            let total = try documents.count(query)
            var done = 0
            let result = try documents.update(query) { document in
                try body(&document)
                done += 1
                if done % 256 == 0 { try self.report(Progress(done: done, total: total)) }
            }
            try report(Progress(done: done, total: total))
            return result.modified
        }

        /// Makes values of one type into values of another, one after another.
        ///
        /// Fields that the old type does not decode are lost, unless the new type stores them.
        ///
        /// - Parameters:
        ///   - collection: The collection's name.
        ///   - old: What the documents are.
        ///   - coding: How their values are stored.
        ///   - newCoding: How the new values are stored; as the old ones when `nil`.
        ///   - query: Which documents; all when empty.
        ///   - body: What a value becomes; its id must stay.
        /// - Returns: How many documents changed.
        /// - Throws: The closure's error, and as `update`; `DecodingError`, `EncodingError`; what the migration's
        ///   `progress` throws.
        @discardableResult
        public func rewrite<Old: Decodable, New: Encodable>(
            _ collection: String, of old: Old.Type, coding: BSONCodingStrategies = BSONCodingStrategies(),
            storing newCoding: BSONCodingStrategies? = nil, _ query: BSONDocument = [:], _ body: (Old) throws -> New
        ) throws -> Int {
            var (encoder, decoder) = (BSONEncoder(), BSONDecoder())
            decoder.strategies = coding
            encoder.strategies = newCoding ?? coding
            let query = try transaction.session.storedQuery(query, of: collection, coding)
            return try rewrite(collection, query) { [encoder, decoder] document in
                let value: Old
                do { value = try decoder.decode(Old.self, from: document) } catch {
                    throw document.naming(error, in: collection)
                }
                document = try encoder.encode(body(value))
            }
        }

        /// Sets the schema of a collection, as `setSchema(_:for:level:)`.
        ///
        /// - Parameters:
        ///   - schema: The schema; `nil` removes it.
        ///   - collection: The collection's name; it is created if need be.
        ///   - level: What becomes of documents that violate it.
        /// - Throws: As `setSchema(_:for:level:)`.
        public func setSchema(
            _ schema: DocumentSchema?, for collection: String, level: Database.ValidationLevel = .strict
        ) throws {
            try transaction.setSchema(schema, for: collection, level: level)
        }

        /// Sets what the documents of a collection satisfy, as `setValidator(_:for:level:)`.
        ///
        /// - Parameters:
        ///   - validator: A query, `["$jsonSchema": schema]` or a schema; `nil` removes it.
        ///   - collection: The collection's name; it is created if need be.
        ///   - level: What becomes of documents that violate it.
        /// - Throws: As `setValidator(_:for:level:)`.
        public func setValidator(
            _ validator: BSONDocument?, for collection: String, level: Database.ValidationLevel = .strict
        ) throws {
            try transaction.setValidator(validator, for: collection, level: level)
        }
    }
}

// MARK: - Database: migrations

extension Database {
    /// Runs the steps that the database has not done yet, each once and in a transaction of its own.
    ///
    /// A step that fails is rolled back; the steps before it are done, and the next call continues with it. Several
    /// tasks or threads may migrate concurrently: each step is run by one of them.
    ///
    /// - Parameters:
    ///   - migrations: The steps of this version of the app.
    ///   - progress: Called at the beginning of each step, and regularly while a step rewrites documents. An error that
    ///     it throws ends the migration and rolls the step back. It must not write to the database.
    /// - Returns: The names of the steps that were done now.
    /// - Throws: What a step throws; ``TansuError`` with `.version` (the database has done steps that are unknown to
    ///   this app, which is older; the context names them), `.invalidArgument` (the order of the steps has
    ///   changed, or two have one name), or what a commit can throw. In the last cases nothing was done.
    @discardableResult
    public func migrate(
        _ migrations: Migrations, progress: @escaping @Sendable (MigrationProgress) throws -> Void = { _ in }
    ) throws -> [String] {
        try migrate(migrations, cancelledBy: nil, progress)
    }

    /// Runs the steps that the database has not done yet, each once and in a transaction of its own, on a thread of the
    /// database.
    ///
    /// When the task is cancelled, the running step is rolled back.
    ///
    /// - Parameters:
    ///   - migrations: The steps of this version of the app.
    ///   - progress: Called with the progress. An error that it throws ends the migration.
    /// - Returns: The names of the steps that were done now.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func migrate(
        _ migrations: Migrations, progress: @escaping @Sendable (MigrationProgress) throws -> Void = { _ in }
    ) async throws -> [String] {
        try await runWriting { flag in try self.migrate(migrations, cancelledBy: flag, progress) }
    }

    /// The steps that the database has done, in their order.
    ///
    /// - Throws: ``TansuError`` with `.closed`.
    public func appliedMigrations() throws -> [AppliedMigration] {
        try Session(self).appliedMigrations()
    }

    /// The steps that the database has done, in their order.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func appliedMigrations() async throws -> [AppliedMigration] {
        try await Session(self).run(.read) { _ in try self.appliedMigrations() }
    }

    private func migrate(
        _ migrations: Migrations, cancelledBy flag: CancellationFlag?,
        _ progress: @escaping @Sendable (MigrationProgress) throws -> Void
    ) throws -> [String] {
        try migrations.check()
        // A database that is up to date is not written to, and may be read-only.
        guard try migrations.done(appliedMigrations().map(\.name)) < migrations.steps.count else { return [] }
        var names: [String] = []
        while let name = try migrateStep(migrations, cancelledBy: flag, progress) {
            engine.recorder?.log("migration step done", ["step": "\(name)"])
            names.append(name)
        }
        return names
    }

    /// Does the first step that is not done yet; its name, or `nil` when all are done.
    private func migrateStep(
        _ migrations: Migrations, cancelledBy flag: CancellationFlag?,
        _ progress: @escaping @Sendable (MigrationProgress) throws -> Void
    ) throws -> String? {
        try flag?.check()
        return try writeInCall(cancelledBy: flag) { transaction in
            // Inside the transaction, because another thread may have run the step meanwhile.
            let number = try migrations.done(transaction.session.appliedMigrations().map(\.name))
            guard number < migrations.steps.count else { return nil }
            let step = migrations.steps[number]
            let report: @Sendable (Progress?) throws -> Void = { documents in
                try progress(
                    MigrationProgress(
                        step: step.name, number: number, count: migrations.steps.count, documents: documents))
            }
            try report(nil)
            try step.body(MigrationStep(transaction, report))
            try transaction.session.record(step.name, number)
            return step.name
        }
    }
}

extension Database {
    /// The collection of applied migration steps: `_id` is the name of a step.
    fileprivate static let migrationCollection = "tansu.migrations"
}

extension String {
    /// Throws `.invalidArgument` for the collection in which the library records migrations.
    func rejectOwnCollection() throws {
        guard utf8.elementsEqual(Database.migrationCollection.utf8) else { return }
        throw TansuError(
            .invalidArgument,
            "The collection \"\(self)\" cannot be written to; the library records in it which steps migrate(_:) has done",
            context: self)
    }
}

extension Session {
    fileprivate func record(_ step: String, _ number: Int) throws {
        let record: BSONDocument = [
            "_id": .string(step), "number": BSONValue(number), "date": BSONValue(Date()),
        ]
        _ = try record.withUnsafeBytes { try engine.save($0, .insert, in: Database.migrationCollection) }
    }

    fileprivate func appliedMigrations() throws -> [Database.AppliedMigration] {
        var applied: [Database.AppliedMigration] = []
        let hints: BSONDocument = ["$orderby": ["number": 1]]
        try engine.forEach(hints: hints, in: Database.migrationCollection) { document in
            guard let name = document["_id"]?.stringValue else {
                throw TansuError(
                    .corrupt, "The collection of applied migrations has an invalid document; restore a backup",
                    context: Database.migrationCollection)
            }
            applied.append(Database.AppliedMigration(name: name, date: document["date"]?.dateValue ?? .distantPast))
        }
        return applied
    }
}
