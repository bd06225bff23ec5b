import Tansu

/// Tansu with its default options, but for the durability.
final class TansuPeer: Peer {
    static var version: String { Database.engineVersion }

    private let database: Database
    private let people: Database.Collection<Person>

    init(folder: String, durability: Durability) throws {
        let options = Database.Options(durability: durability == .full ? .full : .process)
        database = try Database(path: folder + "/people.tansu", options: options)
        people = try database.collection("people", of: Person.self)
    }

    func createIndex(on field: Field) throws {
        try people.ensureIndex("by_" + field.rawValue, on: [field.rawValue: .ascending])
    }

    func save(_ person: Person) throws { try people.save(person) }
    func saveAsync(_ person: Person) async throws { try await people.save(person) }
    func load(_ people: [Person]) throws { try self.people.insert(people) }
    func get(_ id: Int) throws -> Person? { try people.get(id) }
    func getAsync(_ id: Int) async throws -> Person? { try await people.get(id) }
    func named(_ name: String) throws -> [Person] { try people.find { $0.name == name }.all() }
    func zipped(_ zip: String) throws -> [Person] { try people.find { $0.zip == zip }.all() }
    func count(city: String) throws -> Int { try people.find { $0.city == city }.count() }
    func count() throws -> Int { try people.count() }

    func aged(_ ages: ClosedRange<Int>) throws -> [Person] {
        try people.find { $0.age >= ages.lowerBound && $0.age <= ages.upperBound }.all()
    }

    func observe(name: String, _ round: @Sendable ([Person]) throws -> Bool) async throws {
        for try await found in try people.find({ $0.name == name }).observe() {
            guard try round(found) else { return }
        }
    }

    func checkpoint() throws { try database.checkpoint() }
    func close() throws { try database.close() }
}
