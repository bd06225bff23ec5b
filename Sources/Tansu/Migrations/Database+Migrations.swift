import Foundation

extension Database {
    /// The collection in which a database keeps the steps that it has done.
    static let migrationCollection = "tansu.migrations"

    /// Does the steps that the database has not done yet, each once and in a transaction of its own.
    ///
    /// A step that fails leaves no trace; those before it are done, and the next call goes on with it. Several tasks
    /// or threads may migrate at once: each step is done by one of them.
    ///
    /// - Parameters:
    ///   - migrations: The steps of this version of the app.
    ///   - progress: Told at the beginning of each step, and now and then while it rewrites documents. What it throws
    ///     ends the migration in front of or within that step, which leaves no trace. It must not write to the database.
    /// - Returns: The names of the steps that were done now.
    /// - Throws: What a step throws; ``TansuError`` with `.version` (the database has done steps that this app does not
    ///   know: the app is older than the database; the context names them), `.misuse` (the order of the steps has
    ///   changed, or two have one name), or what a commit can throw. In the last cases nothing was done.
    @discardableResult
    public func migrate(
        _ migrations: Migrations, progress: @escaping @Sendable (MigrationProgress) throws -> Void = { _ in }
    ) throws -> [String] {
        try migrate(migrations, stoppedBy: nil, progress)
    }

    /// Does the steps that the database has not done yet, each once and in a transaction of its own, on a thread of the
    /// database's own.
    ///
    /// When the task is cancelled, the step that goes on leaves no trace.
    ///
    /// - Parameters:
    ///   - migrations: The steps of this version of the app.
    ///   - progress: Told how far it is; what it throws ends the migration.
    /// - Returns: The names of the steps that were done now.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func migrate(
        _ migrations: Migrations, progress: @escaping @Sendable (MigrationProgress) throws -> Void = { _ in }
    ) async throws -> [String] {
        try refuseInsideOwnWrite()
        return try await writers.run { flag in try self.migrate(migrations, stoppedBy: flag, progress) }
    }

    /// The steps that the database has done, in their order.
    ///
    /// - Throws: ``TansuError`` with `.closed`.
    public func appliedMigrations() throws -> [AppliedMigration] {
        try Session(self).appliedMigrations()
    }

    /// The steps that the database has done, in their order.
    ///
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func appliedMigrations() async throws -> [AppliedMigration] {
        try await Session(self).suspend(.read) { _ in try self.appliedMigrations() }
    }

    private func migrate(
        _ migrations: Migrations, stoppedBy flag: CancellationFlag?,
        _ progress: @escaping @Sendable (MigrationProgress) throws -> Void
    ) throws -> [String] {
        try migrations.check()
        // A database that is up to date is not written to, and may be read-only.
        guard try migrations.done(appliedMigrations().map(\.name)) < migrations.steps.count else { return [] }
        return try settingSchemas {
            var names: [String] = []
            while let name = try migrateStep(migrations, stoppedBy: flag, progress) {
                engine.instruments?.tell("migration step done", ["step": "\(name)"])
                names.append(name)
            }
            return names
        }
    }

    /// Does the first step that is not done yet; its name, or `nil` when all are done.
    private func migrateStep(
        _ migrations: Migrations, stoppedBy flag: CancellationFlag?,
        _ progress: @escaping @Sendable (MigrationProgress) throws -> Void
    ) throws -> String? {
        try flag?.check()
        return try write(durability: nil, stoppedBy: flag) { transaction in
            // Asked inside, for another thread may have done the step meanwhile.
            let number = try migrations.done(transaction.session.appliedMigrations().map(\.name))
            guard number < migrations.steps.count else { return nil }
            let step = migrations.steps[number]
            let tell: @Sendable (Progress?) throws -> Void = { documents in
                try progress(
                    MigrationProgress(
                        step: step.name, number: number, count: migrations.steps.count, documents: documents))
            }
            try tell(nil)
            try step.body(MigrationStep(transaction, tell))
            try transaction.collection(Self.migrationCollection).insert([
                "_id": .string(step.name), "number": BSONValue(number), "date": BSONValue(Date()),
            ])
            return step.name
        }
    }
}

extension Session {
    fileprivate func appliedMigrations() throws -> [Database.AppliedMigration] {
        var applied: [Database.AppliedMigration] = []
        let hints: BSONDocument = ["$orderby": ["number": 1]]
        try reading.forEach(hints: hints, in: Database.migrationCollection) { document in
            guard let name = document["_id"]?.stringValue else {
                throw TansuError(
                    .corrupt, "the record of migrations has something else in it",
                    context: Database.migrationCollection)
            }
            applied.append(Database.AppliedMigration(name: name, date: document["date"]?.dateValue ?? .distantPast))
        }
        return applied
    }
}
