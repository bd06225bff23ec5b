import Tansu
import TansuBSON

extension Demo {
    /// Drops the collection that an earlier run of the demo created. It never drops documents of others.
    ///
    /// - Returns: Whether there was an earlier run.
    /// - Throws: `CommandError` when the collection has other documents. Nothing is changed then.
    func dropEarlierRun() throws -> Bool {
        guard try opened.database.collectionNames().contains(DemoQuery.collection) else { return false }
        let cities = try opened.database.collection(DemoQuery.collection)
        // The demo stores GeoNames' number as the _id, which distinguishes its documents from others.
        if let first = try cities.find().first(), first["_id"] == nil || first["_id"] != first["geonameid"] {
            throw CommandError(
                code: "EXISTS",
                message: "Collection \"\(DemoQuery.collection)\" was not created by the demo", path: opened.path,
                remedy: "choose another folder with --path, nothing was changed", status: .cannotCreate)
        }
        try opened.database.dropCollection(DemoQuery.collection)
        return true
    }
}
