import Tansu
import TansuBSON

extension Demo {
    /// Drops the collection that an earlier run of the demo created. It never drops documents of others.
    ///
    /// - Parameter data: The file with the cities.
    /// - Returns: Whether there was an earlier run.
    /// - Throws: `CommandError` when the collection has other documents. Nothing is changed then.
    func dropEarlierRun(_ data: String) throws -> Bool {
        guard try opened.database.collectionNames().contains(DemoQuery.collection) else { return false }
        let cities = try opened.database.collection(DemoQuery.collection)
        guard try cities.count() == countUnchanged(in: cities, data) else {
            throw CommandError(
                code: "EXISTS",
                message: "Collection \"\(DemoQuery.collection)\" has documents that the demo did not save",
                path: opened.path, remedy: "choose another folder with --path, nothing was changed",
                status: .cannotCreate)
        }
        try opened.database.dropCollection(DemoQuery.collection)
        return true
    }

    /// The number of documents of the collection that are as the demo saves them.
    private func countUnchanged(in cities: Database.Collection<BSONDocument>, _ data: String) throws -> Int {
        let reader = DocumentReader(try openByteSource(path: data))
        var count = 0
        while let raw = try reader.next() {
            guard case .success(let city) = reader.parse(raw), let id = city[Demo.idField] else { continue }
            if try cities.get(id) == city.withID(id) { count += 1 }
        }
        return count
    }
}
