extension Database {
    /// The documents that an aggregation pipeline makes. It runs when they are requested: all, the first, one after
    /// another, or its plan.
    ///
    /// It is a value that may run many times, each time on the current state of the database. In an asynchronous context,
    /// iterate over it directly:
    ///
    /// ```swift
    /// for try await row in try orders.aggregate(pipeline, as: Sale.self) { … }
    /// ```
    ///
    /// A pipeline that ends with `$out` or `$merge` writes, in one commit, and has no documents.
    public struct Aggregation<Row: Sendable>: Sendable {
        private let session: Session
        /// `nil` where the pipeline begins with `$documents`.
        private let collection: String?
        private let stages: [BSONDocument]
        private let hints: BSONDocument
        private let codec: DocumentCodec<Row>

        init(
            session: Session, collection: String?, stages: [BSONDocument], hints: BSONDocument,
            codec: DocumentCodec<Row>
        ) {
            self.session = session
            self.collection = collection
            self.stages = stages
            self.hints = hints
            self.codec = codec
        }
    }
}

// MARK: - Results

extension Database.Aggregation {
    /// All the documents, in an array.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery` (the context has the number and the name of the stage), `.tooLarge`
    ///   (a stage over its memory limit), `.timeout`, and with `$out` or `$merge` as `update`; `DecodingError`.
    public func all() throws -> [Row] {
        var rows: [Row] = []
        try forEach { rows.append($0) }
        return rows
    }

    /// The first document, or `nil` when there is none. The pipeline does not compute the others, where its stages allow
    /// that.
    ///
    /// - Throws: As `all()`.
    public func first() throws -> Row? {
        try withCursor { cursor in
            while let row = try cursor.next({ try codec.decodeUnlessSkipped($0) }) {
                if let row { return row }
            }
            return nil
        }
    }

    /// Runs a closure on one document after another, without loading them all.
    ///
    /// - Parameter body: What to do; its error ends the run and is rethrown.
    /// - Throws: As `all()`, and the closure's error.
    public func forEach(_ body: (Row) throws -> Void) throws {
        try withCursor { cursor in
            while let row = try cursor.next({ try codec.decodeUnlessSkipped($0) }) {
                if let row { try body(row) }
            }
        }
    }

    /// A cursor over the documents.
    ///
    /// - Throws: As `all()`.
    public func makeCursor() throws -> Database.Cursor<Row> {
        Database.Cursor(try makeEngineCursor(), codec)
    }

    /// Explains the pipeline: how many documents each stage returned, its time and memory, and the plan of the query that
    /// reads the collection. The pipeline is executed completely, but for what `$out` and `$merge` write.
    ///
    /// - Throws: As `all()`.
    public func explain() throws -> Database.PipelineExplanation {
        var hints = hints
        hints["$explain"] = true
        let stages = stages.filter { !$0.isPipelineOutput }
        return try session.engine.withCursor(.pipeline(stages, hints: hints, collection: collection)) { cursor in
            let document = try cursor.next { BSONDocument(trustedBytes: Array($0)) }
            return Database.PipelineExplanation(document ?? [:])
        }
    }

    /// All the documents, in an array, computed on a thread of the database.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func all() async throws -> [Row] {
        try await session.runCancellable(access) { try self.using($0).all() }
    }

    /// The first document, or `nil` when there is none.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func first() async throws -> Row? {
        try await session.runCancellable(access) { try self.using($0).first() }
    }

    /// Explains the pipeline.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func explain() async throws -> Database.PipelineExplanation {
        try await session.runCancellable(.read) { try self.using($0).explain() }
    }
}

extension Database.Aggregation: AsyncSequence {
    /// Runs the pipeline when the first document is requested.
    public func makeAsyncIterator() -> Database.Query<Row>.AsyncIterator {
        Database.Query<Row>.AsyncIterator(session, access, codec) { try makeEngineCursor() }
    }
}

// MARK: - Running

extension Database.Aggregation {
    private var source: EngineCursor.Source { .pipeline(stages, hints: hints, collection: collection) }

    private var access: Session.Access { stages.contains { $0.isPipelineOutput } ? .write : .read }

    private func using(_ session: Session) -> Self {
        Self(session: session, collection: collection, stages: stages, hints: hints, codec: codec)
    }

    private func makeEngineCursor() throws -> EngineCursor {
        try checkTarget()
        return try EngineCursor(session.engine, source)
    }

    private func withCursor<Result>(_ body: (EngineCursor) throws -> Result) throws -> Result {
        try checkTarget()
        return try session.engine.withCursor(source, body)
    }

    /// Checks that the pipeline may write, if it does.
    private func checkTarget() throws {
        guard access == .write else { return }
        for stage in stages { try stage.pipelineTarget?.rejectOwnCollection() }
        try session.checkMayWrite()
    }
}

extension BSONDocument {
    /// Whether it is a stage of a pipeline that writes.
    package var isPipelineOutput: Bool { pipelineOutput != nil }

    /// The collection that a stage of a pipeline writes to.
    package var pipelineTarget: String? {
        guard let operand = pipelineOutput else { return nil }
        let place = operand.documentValue.map { $0["into"] ?? $0["coll"] ?? .null } ?? operand
        return place.stringValue ?? place.documentValue?["coll"]?.stringValue
    }

    private var pipelineOutput: BSONValue? { self["$out"] ?? self["$merge"] }
}

// MARK: - Collection: pipelines

extension Database.Collection {
    /// The documents that an aggregation pipeline makes of those of the collection.
    ///
    /// For example:
    ///
    /// ```swift
    /// struct Kind: Codable { var id: String; var number: Int }
    /// let kinds = try pets.aggregate([.group(by: \.species, ["number": .count])], as: Kind.self).all()
    /// ```
    ///
    /// Values are decoded as in documents of the collection, and a property `id` is the field `_id`, which is the key of a
    /// group.
    ///
    /// - Parameters:
    ///   - pipeline: The stages.
    ///   - type: What its documents are decoded as.
    ///   - hints: Options: `$maxTimeMS`, `$allowDiskUse`, `$maxMemory`, `$collation`, `$index`, and `$let`, the variables
    ///     of all stages.
    /// - Throws: ``TansuError`` with `.invalidQuery`: the stored name of a property is not known. The stages are checked
    ///   when the pipeline runs.
    public func aggregate<Row: Codable & Sendable>(
        _ pipeline: Database.Pipeline<Element>, as type: Row.Type = BSONDocument.self, hints: BSONDocument = [:]
    ) throws -> Database.Aggregation<Row> {
        Database.Aggregation(
            session: session, collection: name, stages: try pipeline.documents(for: find()), hints: hints,
            codec: .codable(like: codec))
    }
}

extension Session {
    /// A pipeline that begins with `$documents`.
    fileprivate func aggregate<Row: Codable & Sendable>(
        _ pipeline: Database.Pipeline<BSONDocument>, _ hints: BSONDocument
    ) throws -> Database.Aggregation<Row> {
        let none = Database.Query(session: self, collection: "", codec: .documents, filter: [:], hints: [:])
        return Database.Aggregation(
            session: self, collection: nil, stages: try pipeline.documents(for: none), hints: hints, codec: .codable())
    }
}

extension Database {
    /// The documents that an aggregation pipeline makes of those in its first stage, `$documents`.
    ///
    /// For example: `try db.aggregate([["$documents": [["id": 1], ["id": 2]]], .lookup(from: "pets", localField: "id", as: "pets")])`.
    ///
    /// - Parameters:
    ///   - pipeline: The stages.
    ///   - type: What its documents are decoded as.
    ///   - hints: Options, as for a collection.
    /// - Throws: As for a collection.
    public func aggregate<Row: Codable & Sendable>(
        _ pipeline: Pipeline<BSONDocument>, as type: Row.Type = BSONDocument.self, hints: BSONDocument = [:]
    ) throws -> Aggregation<Row> {
        try Session(self).aggregate(pipeline, hints)
    }
}

extension Database.Transaction {
    /// The documents that an aggregation pipeline makes of those in its first stage, `$documents`.
    ///
    /// - Parameters:
    ///   - pipeline: The stages.
    ///   - type: What its documents are decoded as.
    ///   - hints: Options, as for a collection.
    /// - Throws: As for a collection.
    public func aggregate<Row: Codable & Sendable>(
        _ pipeline: Database.Pipeline<BSONDocument>, as type: Row.Type = BSONDocument.self, hints: BSONDocument = [:]
    ) throws -> Database.Aggregation<Row> {
        try session.aggregate(pipeline, hints)
    }
}
