/// The record of the benchmark: about 190 bytes as BSON, two short lists of columns as a table.
struct Person: Codable, Sendable, Identifiable, Hashable {
    var id: Int
    var name: String
    var age: Int
    var email: String
    var tags: [String]
    var city: String
    var zip: String
    var visits: Int
}

/// The people of a run. They repeat: each run has the same ones.
struct People: Sendable {
    /// How many have the same name.
    static let perName = 10
    /// A city belongs to 1/80 of all, as an age does; a zip code to 1 %.
    static let cities = 80
    static let ages = 80
    static let zips = 100
    /// The number of people is a multiple of this.
    static let step = 400

    let all: [Person]

    init(count: Int) {
        var random = Random(state: 42)
        let names = (0..<count).map { $0 / Self.perName }.shuffled(using: &random)
        let cities = (0..<count).map { $0 % Self.cities }.shuffled(using: &random)
        let ages = (0..<count).map { $0 % Self.ages }.shuffled(using: &random)
        let zips = (0..<count).map { $0 % Self.zips }.shuffled(using: &random)
        all = (0..<count).map { number in
            Person(
                id: number + 1, name: Self.name(names[number]), age: ages[number] + 10,
                email: "user\(1_000_000 + number)@example.org",
                tags: ["tag\(names[number] % 7)", "tag\(cities[number] % 11)", "tag\(ages[number] % 5)"],
                city: Self.city(cities[number]), zip: Self.zip(zips[number]), visits: ages[number] * 1000)
        }
    }

    static func name(_ number: Int) -> String { "Person \(100_000 + number)" }
    static func city(_ number: Int) -> String { "City of number \(10 + number)" }
    static func zip(_ number: Int) -> String { "\(90_000 + number)" }
}

/// Random numbers that repeat (SplitMix64).
struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
