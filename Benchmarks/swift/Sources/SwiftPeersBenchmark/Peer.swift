/// What a commit that returned survives.
enum Durability: Sendable {
    /// Power loss.
    case full
    /// The death of the process.
    case process
}

/// The fields that rows index.
enum Field: String, Sendable, CaseIterable {
    case name, city, age
}

/// A library under test, so that each row is written once and runs with both.
protocol Peer: Closable, AnyObject, Sendable {
    init(folder: String, durability: Durability) throws
    func createIndex(on field: Field) throws
    /// Inserts or replaces one, in a commit of its own.
    func save(_ person: Person) throws
    func saveAsync(_ person: Person) async throws
    /// Inserts all in one transaction.
    func load(_ people: [Person]) throws
    func get(_ id: Int) throws -> Person?
    func getAsync(_ id: Int) async throws -> Person?
    func named(_ name: String) throws -> [Person]
    func aged(_ ages: ClosedRange<Int>) throws -> [Person]
    func zipped(_ zip: String) throws -> [Person]
    func count(city: String) throws -> Int
    func count() throws -> Int
    /// Observes the people of a name and calls `round` after each result with the result's number, until it returns
    /// `false`; `round` saves what leads to the next result.
    func observe(name: String, _ round: @Sendable ([Person]) throws -> Bool) async throws
    /// Finishes deferred work, so that it is not in the other's time.
    func checkpoint() throws
}

/// A database that is open.
protocol Closable {
    func close() throws
}

/// A wrong result or an invalid option.
struct BenchmarkError: Error, CustomStringConvertible {
    var description: String
}
