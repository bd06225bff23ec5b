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
