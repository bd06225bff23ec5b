import Tansu

/// The fields of a record that the queries use. The documents have more fields.
struct City: Codable, Sendable, Identifiable {
    enum CodingKeys: String, CodingKey {
        case id, name, population, timezone
        case country = "countrycode"
    }

    var id: Int
    var name: String
    var country: String
    var population: Int
    var timezone: String
}
