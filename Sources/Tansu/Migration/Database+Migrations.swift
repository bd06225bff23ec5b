import Foundation

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
        return try settingSchemas(cancelledBy: flag) {
            var names: [String] = []
            while let name = try migrateStep(migrations, cancelledBy: flag, progress) {
                engine.recorder?.log("migration step done", ["step": "\(name)"])
                names.append(name)
            }
            return names
        }
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
