import GRDB

extension Person: FetchableRecord, PersistableRecord {
    static let databaseTableName = "people"
}

/// GRDB as its documentation recommends: a `DatabasePool` (WAL), records with a column for each property (a list as a
/// JSON column), the id as rowid. The settings of SQLite are those of `Benchmarks/run`.
final class GRDBPeer: Peer {
    /// SQLite's: GRDB does not name its own.
    static let version = (try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }) ?? ""

    private let pool: DatabasePool

    init(folder: String, durability: Durability) throws {
        pool = try Self.pool(folder + "/people.sqlite", durability)
        try pool.write { database in
            try database.create(table: "people", options: .ifNotExists) { table in
                table.column("id", .integer).primaryKey()
                table.column("name", .text).notNull()
                table.column("age", .integer).notNull()
                table.column("email", .text).notNull()
                table.column("tags", .jsonText).notNull()
                table.column("city", .text).notNull()
                table.column("zip", .text).notNull()
                table.column("visits", .integer).notNull()
            }
        }
    }

    /// A pool with SQLite's settings of all rows.
    static func pool(_ path: String, _ durability: Durability) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -65536")
            try database.execute(sql: "PRAGMA mmap_size = 268435456")
            try database.execute(sql: "PRAGMA temp_store = MEMORY")
            try database.execute(sql: "PRAGMA wal_autocheckpoint = 4000")
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        // A pool sets NORMAL once its connection is prepared, so that FULL in `prepareDatabase` has no effect.
        try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
            let level = try Int.fetchOne(database, sql: "PRAGMA synchronous")
            try require(level == (durability == .full ? 2 : 1), "SQLite does not take the durability")
        }
        return pool
    }

    func createIndex(on field: Field) throws {
        try pool.write { try $0.create(index: "by_" + field.rawValue, on: "people", columns: [field.rawValue]) }
    }

    func save(_ person: Person) throws { try pool.write { try person.insert($0, onConflict: .replace) } }

    func saveAsync(_ person: Person) async throws {
        try await pool.write { try person.insert($0, onConflict: .replace) }
    }

    func load(_ people: [Person]) throws {
        try pool.write { database in
            for person in people { try person.insert(database) }
        }
    }

    func get(_ id: Int) throws -> Person? { try pool.read { try Person.fetchOne($0, key: id) } }
    func getAsync(_ id: Int) async throws -> Person? { try await pool.read { try Person.fetchOne($0, key: id) } }

    // The order of the rowid is that of insertion, which Tansu returns. SQLite sorts them by it at no cost: the entries
    // of an index that are equal are in its order.
    func named(_ name: String) throws -> [Person] {
        try pool.read { try Person.filter(Column("name") == name).fetchAll($0) }
    }

    func zipped(_ zip: String) throws -> [Person] {
        try pool.read { try Person.filter(Column("zip") == zip).fetchAll($0) }
    }

    func aged(_ ages: ClosedRange<Int>) throws -> [Person] {
        try pool.read { try Person.filter(ages.contains(Column("age"))).fetchAll($0) }
    }

    func count(city: String) throws -> Int {
        try pool.read { try Person.filter(Column("city") == city).fetchCount($0) }
    }

    func count() throws -> Int { try pool.read { try Person.fetchCount($0) } }

    func observe(name: String, _ round: @Sendable ([Person]) throws -> Bool) async throws {
        let observation = ValueObservation.tracking { database in
            try Person.filter(Column("name") == name).fetchAll(database)
        }
        for try await found in observation.values(in: pool) {
            guard try round(found) else { return }
        }
    }

    func checkpoint() throws { _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
    func close() throws { try pool.close() }
}
