import Tansu

/// What the analyser asks of a record. Records have more fields; they stay in the documents.
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
