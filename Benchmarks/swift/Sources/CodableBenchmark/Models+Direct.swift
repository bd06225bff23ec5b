import TansuBSON

/// The same fields as ``Person`` in a type that writes and reads its own fields.
struct DirectPerson: Codable, Equatable, Sendable {
    var id: Int
    var name: String
    var email: String
    var city: String
    var age: Int
    var score: Double
    var isActive: Bool
    var visits: Int64

    static let sample = DirectPerson(
        id: Person.sample.id, name: Person.sample.name, email: Person.sample.email, city: Person.sample.city,
        age: Person.sample.age, score: Person.sample.score, isActive: Person.sample.isActive,
        visits: Person.sample.visits)
}

extension DirectPerson: BSONWritable {
    func write(to fields: inout BSONFieldWriter) throws {
        fields.write("_id", id)
        fields.write("name", name)
        fields.write("email", email)
        fields.write("city", city)
        fields.write("age", age)
        fields.write("score", score)
        fields.write("isActive", isActive)
        fields.write("visits", visits)
    }
}

extension DirectPerson: BSONReadable {
    init(reading fields: inout BSONFieldReader) throws {
        id = try fields.read("_id")
        name = try fields.read("name")
        email = try fields.read("email")
        city = try fields.read("city")
        age = try fields.read("age")
        score = try fields.read("score")
        isActive = try fields.read("isActive")
        visits = try fields.read("visits")
    }
}
