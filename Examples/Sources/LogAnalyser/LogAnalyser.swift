import Checking
import Foundation
import Tansu

/// An analyser of records from standard input, one JSON object per line.
///
/// Run it in the folder `Examples` with the data of the demo:
///
/// ```
/// gzip -dc ../Sources/TansuCommand/Resources/cities.ndjson.gz | swift run LogAnalyser
/// ```
///
/// It compares every result with that of loops over the same records.
@main
struct LogAnalyser {
    static func main() throws {
        // The data is analysed once, so the database is in memory.
        let db = try Database(.memory)
        var importer = Importer(into: try db.collection("cities"))
        var lines: [String] = []
        while let line = readLine() {
            lines.append(line)
            try importer.add(line)
        }
        try importer.flush()
        print("\(lines.count) lines, \(importer.imported) records, \(importer.rejected) rejected")

        // The same collection with a Codable type.
        let analyser = LogAnalyser(
            cities: try db.collection("cities", of: City.self), records: Records(lines))
        check(importer.imported == analyser.records.all.count, "every record is imported")
        try analyser.biggestCountries()
        try analyser.millions(in: "Africa/")
        try analyser.countryWithAndWithoutIndex("BR")
        try analyser.zones()
    }

    let cities: Database.Collection<City>
    let records: Records

    /// Groups with aggregates: the number of cities, the total and the largest population of each country.
    func biggestCountries() throws {
        let groups = try cities.find().groups(by: \.country, .count, .sum(\.population), .max(\.population))
        print("\nthe countries with the most cities")
        for (country, count, people, greatest) in groups.sorted(by: { $0.1 > $1.1 }).prefix(5) {
            print("  \(country): \(count) cities, \(people) people, \(greatest ?? 0) in the greatest")
        }
        let wanted = Dictionary(grouping: records.all, by: \.country)
        check(groups.count == wanted.count, "one group for each of \(wanted.count) countries")
        for (country, count, people, greatest) in groups {
            let there = wanted[country] ?? []
            check(
                count == there.count && people == there.map(\.population).reduce(0, +)
                    && greatest == there.map(\.population).max(),
                "the aggregates of \(country)")
        }
    }

    /// A query with a condition, an order and a limit.
    func millions(in zone: String) throws {
        let found = try cities.find { $0.timezone.hasPrefix(zone) && $0.population > 1_000_000 }
            .sorted(by: \.population, .descending)
            .sorted(by: \.id)
            .limit(5)
            .all()
        print("\nthe greatest cities of \(zone)")
        for city in found { print("  \(city.name): \(city.population)") }
        let wanted = records.all.filter { $0.timezone.hasPrefix(zone) && $0.population > 1_000_000 }
            .sorted { ($1.population, $0.id) < ($0.population, $1.id) }
            .prefix(5)
        check(found.map(\.id) == wanted.map(\.id), "the greatest cities of \(zone)")
    }

    /// The explanation of a query, with its cost and a suggested index.
    func countryWithAndWithoutIndex(_ country: String) throws {
        let query = try cities.find { $0.country == country }.sorted(by: \.population, .descending).limit(3)
        let before = (try query.all().map(\.id), try query.explain())
        check(before.1.plan.kind == .scan && before.1.suggestion != nil, "without an index it is a scan")
        try cities.ensureIndex("by_country", on: ["countrycode": .ascending, "population": .descending])
        let after = (try query.all().map(\.id), try query.explain())
        print("\nthe greatest cities of \(country), before and with an index")
        print(before.1, after.1, separator: "\n")
        check(after.1.plan.kind == .index && after.1.documentsExamined == after.0.count, "the index is used")
        check(before.0 == after.0 && before.0.count == 3, "an index does not affect the results")
    }

    /// The distinct values of a property.
    func zones() throws {
        let zones = try cities.find().distinct(\.timezone)
        print("\n\(zones.count) time zones, from \(zones.first ?? "") to \(zones.last ?? "")")
        check(Set(zones) == Set(records.all.map(\.timezone)), "the time zones")
    }
}
