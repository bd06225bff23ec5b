import Foundation
import Tansu
import TansuBSON

/// Makes sure that the demo only ever replaces what a demo made.
enum DemoStore {
    enum State { case new, startsAfresh }

    /// Clears the way for the import: an earlier demo's cities go, anything else stays or is an error.
    /// - Throws: `CommandFailure` when the collection holds other documents; then nothing was changed.
    static func prepare(_ store: Store) throws -> State {
        let names = try store.database.collectionNames()
        guard names.contains(DemoQuery.collection) else { return .new }
        let cities = try store.database.collection(DemoQuery.collection)
        let first = try cities.find().first()
        // The demo makes GeoNames' number the _id; nobody else's cities look like that by chance.
        if let first, first["_id"] == nil || first["_id"] != first["geonameid"] {
            throw CommandFailure(
                code: "EXISTS",
                message: "The database has a collection \"cities\" that the demo did not make.",
                path: store.path,
                remedy: "Nothing was changed; name another folder with --path.", status: .cannotCreate)
        }
        try store.database.removeCollection(DemoQuery.collection)
        return .startsAfresh
    }
}
