import Foundation
import Tansu

/// An importer of records, one JSON object per line, into a collection.
struct Importer {
    let collection: Database.Collection<BSONDocument>

    private(set) var imported = 0
    private(set) var rejected = 0
    private var batch: [BSONDocument] = []

    init(into collection: Database.Collection<BSONDocument>) {
        self.collection = collection
    }

    /// Adds the record of a line. Invalid lines are counted and skipped.
    mutating func add(_ line: String) throws {
        guard var record = try? BSONDocument(extendedJSON: line), let id = record["geonameid"] else {
            rejected += 1
            return
        }
        record["geonameid"] = nil
        record["_id"] = id
        batch.append(record)
        if batch.count == 1000 { try flush() }
    }

    /// Saves the current batch in one commit.
    mutating func flush() throws {
        try collection.save(batch)
        imported += batch.count
        batch.removeAll(keepingCapacity: true)
    }
}
