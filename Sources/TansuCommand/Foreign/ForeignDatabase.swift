import Tansu
import TansuBSON

/// A database of another program.
protocol ForeignDatabase {
    /// Its collections or tables that are to be imported.
    var collections: [ForeignCollection] { get }

    /// What of the database cannot be read, apart from single documents.
    var faults: [String] { get }
}

/// A collection or table of another program.
struct ForeignCollection {
    var name: String
    /// What messages call it: its file or table.
    var label: String
    var compression: Database.CollectionCompression?
    var indexes: [ForeignIndex] = []
    /// What its documents satisfy.
    var validator: (rules: BSONDocument, level: Database.ValidationLevel)?
    /// What has no counterpart here.
    var notes: [String] = []
    /// Opens its documents.
    var open: () throws -> any DocumentSource
}

/// An index as `tansu_index_create()` takes it.
struct ForeignIndex {
    /// Nil when it is derived from the keys.
    var name: String?
    var keys: BSONDocument
    var options: BSONDocument = [:]
}
