import Foundation

/// The records as decoded by Foundation, as a reference for the results of the database.
struct Records {
    /// A city, decoded from its line of JSON.
    struct Record: Decodable {
        enum CodingKeys: String, CodingKey {
            case id = "geonameid"
            case country = "countrycode"
            case population, timezone
        }

        var id: Int
        var country: String
        var population: Int
        var timezone: String
    }

    let all: [Record]

    init(_ lines: [String]) {
        let decoder = JSONDecoder()
        all = lines.compactMap { try? decoder.decode(Record.self, from: Data($0.utf8)) }
    }
}
