// The async variants of Query+Results.swift.
extension Database.Query {
    /// All the documents, in an array. Where the caller runs, if they take less than a millisecond, are at most 64 and
    /// have at most 64 KiB; on a thread of the database otherwise.
    ///
    /// - Parameter isolation: The actor on which a short query runs: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func all(isolation: isolated (any Actor)? = #isolation) async throws -> [Element] {
        if let elements = try inPlace({ try $0.elements(atMost: .max) }) { return elements }
        return try await session.run(.read) { flag in
            try self.withCursor { cursor in try flag.cancelling(with: cursor.cancel) { try self.all(from: cursor) } }
        }
    }

    /// The first document, or `nil` when there is none. Where the caller runs, if that takes less than a millisecond; on
    /// a thread of the database otherwise.
    ///
    /// - Parameter isolation: The actor on which a short query runs: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func first(isolation: isolated (any Actor)? = #isolation) async throws -> Element? {
        let query = limitedToOne
        if let elements = try query.inPlace({ try $0.elements(atMost: 1) }) { return elements.first }
        return try await session.run(.read) { flag in
            try query.withCursor { cursor in
                try flag.cancelling(with: cursor.cancel) { try query.first(from: cursor) }
            }
        }
    }

    /// How many documents there are; `skip` and `limit` count too. Where the caller runs, if counting takes less than a
    /// millisecond; on a thread of the database otherwise.
    ///
    /// - Parameter isolation: The actor on which a short query runs: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func count(isolation: isolated (any Actor)? = #isolation) async throws -> Int {
        if let count = try inPlace({ try $0.count(in: $0.session) }) { return count }
        return try await session.runCancellable(.read) { try self.count(in: $0) }
    }

    /// Explains the query.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func explain() async throws -> Database.Explanation {
        try await session.runCancellable(.read) { try self.explain(in: $0) }
    }

    /// Runs the query with a time limit on the executor of the caller.
    ///
    /// - Returns: What `body` returns; `nil` when the query must run on a thread of the database: it has a time limit of
    ///   its own, reports documents that it skips, which it must not do twice, or takes too long.
    private func inPlace<Result>(_ body: (Self) throws -> Result?) throws -> Result? {
        guard hints["$maxTimeMS"] == nil, !codec.skips else {
            try Task.checkCancellation()
            return nil
        }
        var query = using(session.forTrial)
        query.hints["$maxTimeMS"] = BSONValue(InPlace.milliseconds)
        do {
            return try session.inPlace { try body(query) }
        } catch let error as TansuError where error.code == .timeout {
            return nil
        }
    }

    /// The first documents; `nil` when there are too many for one who must not be kept waiting.
    private func elements(atMost count: Int) throws -> [Element]? {
        try withCursor { cursor in
            let reader = reader
            var elements: [Element] = []
            var bytesLeft = InPlace.bytes
            while elements.count < count {
                let next: Element?? = try cursor.next { document in
                    bytesLeft -= document.count
                    return bytesLeft < 0 || elements.count == InPlace.documents ? nil : try reader.decode(document)
                }
                guard let next else { break }
                guard let element = next else {
                    cursor.discardMeasurement()
                    return nil
                }
                elements.append(element)
            }
            return elements
        }
    }
}
