public import Foundation

extension Database.Collection {
    /// The documents that were last saved before a date, of a collection with ``Database/Timestamps``.
    ///
    /// - Parameter date: The date, which is not included.
    /// - Throws: ``TansuError`` with `.invalidState` when the collection does not keep when its documents were saved;
    ///   `.invalidArgument` for a date that is NaN.
    public func find(savedBefore date: Date) throws -> Database.Query<Element> {
        try saved(["$lt": try checked(date)])
    }

    /// The documents that were last saved after a date, of a collection with ``Database/Timestamps``.
    ///
    /// - Parameter date: The date, which is not included.
    /// - Throws: ``TansuError`` with `.invalidState` when the collection does not keep when its documents were saved;
    ///   `.invalidArgument` for a date that is NaN.
    public func find(savedAfter date: Date) throws -> Database.Query<Element> {
        try saved(["$gt": try checked(date)])
    }

    /// The documents that were last saved on a day, of a collection with ``Database/Timestamps``.
    ///
    /// - Parameters:
    ///   - date: A date on the day.
    ///   - calendar: The calendar, whose time zone says when the day begins and ends.
    /// - Throws: ``TansuError`` with `.invalidState` when the collection does not keep when its documents were saved;
    ///   `.invalidArgument` when the calendar has no such day, or the date is not finite.
    public func find(savedOn date: Date, in calendar: Calendar = .current) throws -> Database.Query<Element> {
        guard date.timeIntervalSince1970.isFinite, let day = calendar.dateInterval(of: .day, for: date) else {
            throw TansuError(.invalidArgument, "The calendar has no day of that date; use another one", context: "date")
        }
        return try saved(["$gte": .date(day.start), "$lt": .date(day.end)])
    }

    /// The date in a query; a date that is NaN would be the least one there.
    private func checked(_ date: Date) throws -> BSONValue {
        if date.timeIntervalSince1970.isNaN {
            throw TansuError(.invalidArgument, "The date is NaN, which is no time; pass a time", context: "date")
        }
        return .date(date)
    }

    /// A query for when documents were saved, which is a date whatever the coding strategies of the collection say.
    private func saved(_ condition: BSONDocument) throws -> Database.Query<Element> {
        Database.Query(
            session: session, collection: name, codec: codec, filter: [try savedField(): .document(condition)],
            hints: [:])
    }

    private func savedField() throws -> String {
        guard let field = try session.collectionInfo(name)?.timestamps?.updatedPath else {
            throw TansuError(
                .invalidState,
                "The collection \"\(name)\" does not keep when its documents were saved; set its timestamps",
                context: name)
        }
        return field
    }
}

extension Database.Timestamps {
    /// The path of the field, for queries and indexes: a name may have characters that mean something in a path.
    package var createdPath: String? { created.map(FieldPath.escaped) }

    /// The path of the field, likewise.
    package var updatedPath: String? { updated.map(FieldPath.escaped) }
}
