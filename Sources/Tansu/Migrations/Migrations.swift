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
    /// Each step runs once in the life of a database, in a transaction of its own that also records it. Once released,
    /// a step's name, place and meaning stay; what is to change later is a new step at the end.
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
        ///   - name: What it is called, for ever. No other step may have the name.
        ///   - body: What it does. Its error takes back what the step did and ends the migration.
        public mutating func add(_ name: String, _ body: @escaping @Sendable (MigrationStep) throws -> Void) {
            steps.append(Step(name: name, body: body))
        }

        /// The steps' names in their order.
        public var names: [String] { steps.map(\.name) }

        /// Throws `.misuse` when steps cannot be told apart.
        func check() throws {
            var seen: Set<String> = []
            for name in names {
                if name.isEmpty { throw TansuError(.misuse, "a migration step has no name") }
                if !seen.insert(name).inserted {
                    throw TansuError(.misuse, "two migration steps have one name", context: name)
                }
            }
        }

        /// How many steps a database has done, whose record is given in order.
        func done(_ applied: [String]) throws -> Int {
            let names = names
            let unknown = applied.filter { !names.contains($0) }
            guard unknown.isEmpty else {
                throw TansuError(
                    .version, "the database was migrated by a newer version of this app: update the app",
                    context: unknown.joined(separator: ", "))
            }
            for (known, recorded) in zip(names, applied) where known != recorded {
                throw TansuError(
                    .misuse,
                    "the migration step stands where the database has done \"\(recorded)\": the order of released steps"
                        + " must stay, and new ones come last", context: known)
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

    /// How far a migration is.
    public struct MigrationProgress: Sendable, Hashable {
        /// The step that goes on.
        public let step: String

        /// Its number, counted from 0.
        public let number: Int

        /// How many steps there are.
        public let count: Int

        /// How many documents the step's rewriting has looked at; `nil` when it does not rewrite now.
        public let documents: Progress?
    }
}
