import Tansu
import TansuBSON

/// The demo's work, without its words.
struct Demo {
    let store: Store

    /// Imports the file of cities.
    /// - Returns: How many there were, and how long it took.
    func importCities(
        _ path: String, progress: @escaping (_ documents: Int, _ fraction: Double?) -> Void
    ) throws -> (imported: Int, elapsed: Duration) {
        let started = ContinuousClock.now
        var settings = ImportJob.Settings()
        settings.idField = "geonameid"
        settings.isStrict = true
        let job = ImportJob(
            database: store.database, collection: DemoQuery.collection, settings: settings)
        job.onProgress = progress
        try job.run(RecordReader(try openByteSource(path: path)))
        return (job.imported, started.duration(to: .now))
    }

    /// Creates the index.
    /// - Returns: How long it took.
    func createIndex() throws -> Duration {
        let started = ContinuousClock.now
        _ = try store.createIndex(
            DemoQuery.indexName, on: DemoQuery.collection, keys: DemoQuery.indexKeys)
        return started.duration(to: .now)
    }

    /// The answer to the query.
    func answer() throws -> [BSONDocument] {
        try cities().find(DemoQuery.query, hints: DemoQuery.hints).all()
    }

    /// The answer as a table, its numbers grouped for reading.
    func answerTable() throws -> TextTable {
        let documents = try answer()
        let columns = documents.first?.keys ?? []
        var table = TextTable(headings: columns)
        table.rows = documents.map { document in
            columns.map { column in
                guard let value = document[column] else { return TextTable.Cell("") }
                guard let number = value.int64Value else { return TextTable.Cell(value) }
                return TextTable.Cell(Numbers.grouped(number), alignment: .right)
            }
        }
        return table
    }

    /// How the answer was found.
    func plan() throws -> BSONDocument {
        try cities().find(DemoQuery.query, hints: DemoQuery.hints).explain().document
    }

    private func cities() throws -> Database.Collection<BSONDocument> {
        try store.database.collection(DemoQuery.collection)
    }
}
