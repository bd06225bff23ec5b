import Tansu

enum Kind: String, Codable { case cat, dog }
struct Home: Codable { var city: String; var zip: Int? }
struct Pet: Codable { var species: String; var age: Int?; var kind: Kind?; var home: Home? }
struct Person: Codable, Sendable {
    var name: String
    var age: Int
    var score: Double
    var nick: String?
    var pet: Pet?
    var tags: [String]
    var pets: [Pet]?
}

func query(_ people: Database.Collection<Person>) throws -> Database.Query<Person> {
    try people.find {
        $0.name == "mike" && $0.age > 10 && ($0.nick == nil || $0.score <= 1.5) && $0.pet.species != "cat"
            && !($0.pet.kind == .dog) && $0.tags.contains("a") && $0.pets.contains { $0.age < 3 }
    }
}

func plain(_ people: [Person]) -> [Person] {
    people.filter {
        $0.name == "mike" && $0.age > 10 && ($0.nick == nil || $0.score <= 1.5) && $0.pet?.species != "cat"
            && !($0.pet?.kind == .dog) && $0.tags.contains("a") && $0.age < 30
    }
}
