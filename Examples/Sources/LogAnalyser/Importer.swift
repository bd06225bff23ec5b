import Foundation
import Tansu

/// Reads records, one JSON object a line, into a collection.
struct Importer {
    let collection: Database.Collection<BSONDocument>

    private(set) var imported = 0
    private(set) var refused = 0
    private var batch: [BSONDocument] = []

    init(into collection: Database.Collection<BSONDocument>) {
        self.collection = collection
    }

    /// Takes a line. One that is no record is counted, not fatal: logs have such lines.
    mutating func take(_ line: String) throws {
        guard var record = try? BSONDocument(extendedJSON: line), let id = record["geonameid"] else {
            refused += 1
            return
        }
        record["geonameid"] = nil
        record["_id"] = id
        batch.append(record)
        if batch.count == 1000 { try flush() }
    }

    /// Saves what is waiting, in one commit.
    mutating func flush() throws {
        try collection.save(batch)
        imported += batch.count
        batch.removeAll(keepingCapacity: true)
    }
}
