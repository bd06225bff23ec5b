import Tansu

/// A place, with its names in many languages.
struct Place: Codable, Sendable, Identifiable {
    enum CodingKeys: String, CodingKey {
        case id, name, population
        case country = "countrycode"
        case otherNames = "alternatenames"
    }

    var id: Int
    var name: String
    var country: String
    var population: Int
    var otherNames: [String]?
}
