import Tansu
import TansuBSON

/// The steps of the demo.
struct Demo {
    let opened: OpenDatabase

    /// The field that becomes the _id: GeoNames' number of the city.
    static let idField = "geonameid"

    /// Imports the cities.
    /// - Returns: The number of documents and the duration.
    func importCities(
        _ path: String, progress: @escaping (_ documents: Int, _ fraction: Double?) -> Void
    ) throws -> (imported: Int, elapsed: Duration) {
        let started = ContinuousClock.now
        var settings = ImportJob.Settings()
        settings.idField = Demo.idField
        settings.isStrict = true
        let job = ImportJob(
            database: opened.database, collection: DemoQuery.collection, settings: settings)
        job.onProgress = progress
        let reader = DocumentReader(try openByteSource(path: path))
        try Interruption.handled { try job.run(reader) }
        return (job.imported, started.duration(to: .now))
    }

    /// Creates the index.
    /// - Returns: The duration.
    func createIndex() throws -> Duration {
        let started = ContinuousClock.now
        _ = try opened.createIndex(
            DemoQuery.indexName, on: DemoQuery.collection, keys: DemoQuery.indexKeys)
        return started.duration(to: .now)
    }

    /// The results of the query.
    func results() throws -> [BSONDocument] {
        try cities().find(DemoQuery.query, hints: DemoQuery.hints).all()
    }

    /// The results of the query as a table.
    func resultTable() throws -> TextTable {
        let documents = try results()
        let columns = documents.first?.keys ?? []
        var table = TextTable(headings: columns)
        table.rows = documents.map { document in
            columns.map { column in
                guard let value = document[column] else { return TextTable.Cell("") }
                guard let number = value.int64Value else { return TextTable.Cell(value) }
                return TextTable.Cell(NumberFormat.grouped(number), alignment: .right)
            }
        }
        return table
    }

    /// The plan of the query.
    func plan() throws -> BSONDocument {
        try cities().find(DemoQuery.query, hints: DemoQuery.hints).explain().document
    }

    private func cities() throws -> Database.Collection<BSONDocument> {
        try opened.database.collection(DemoQuery.collection)
    }
}
