import Checking
import Foundation
import Tansu

/// A search box over places, which come from standard input, one JSON object per line.
///
/// Run it in the folder `Examples` with the data of the demo, and with what is typed as its arguments:
///
/// ```
/// gzip -dc ../Sources/TansuCommand/Resources/cities.ndjson.gz | swift run PlaceSearch "san fra"
/// ```
///
/// Without arguments it types some texts, and compares what it finds with loops over the same places.
@main
struct PlaceSearch {
    static func main() throws {
        let db = try Database(.memory)
        let box = try SearchBox(db)
        let places = try readPlaces()
        for start in stride(from: 0, to: places.count, by: 1000) {
            try box.places.insert(Array(places[start..<min(start + 1000, places.count)]))
        }
        print("\(places.count) places")
        let typed = Array(CommandLine.arguments.dropFirst())
        for text in typed.isEmpty ? ["ber", "berl", "san fra", "münchen", "東京", "pariss"] : typed {
            try show(text, box)
        }
        if typed.isEmpty { try compare(box, places) }
    }

    private static func readPlaces() throws -> [Place] {
        struct Line: Decodable {
            var geonameid: Int
            var name: String
            var countrycode: String
            var population: Int
            var alternatenames: [String]?
        }
        var places: [Place] = []
        let decoder = JSONDecoder()
        while let line = readLine() {
            let read = try decoder.decode(Line.self, from: Data(line.utf8))
            places.append(
                Place(
                    id: read.geonameid, name: read.name, country: read.countrycode, population: read.population,
                    otherNames: read.alternatenames))
        }
        return places
    }

    /// Prints what the box shows for a text.
    private static func show(_ text: String, _ box: SearchBox) throws {
        print("\n\(text)│ \(try box.completions(of: text).joined(separator: " · "))")
        let lines = try box.lines(for: text)
        for line in lines {
            let name = line.name.map { $0.isFound ? "[\($0.text)]" : String($0.text) }.joined()
            print("  \(name)  \(line.place.name), \(line.place.country), \(line.place.population)")
        }
        if lines.isEmpty, let suggestion = try box.suggestion(for: text) { print("  Did you mean \(suggestion)?") }
    }

    /// Compares what the box finds with what loops over the places do.
    private static func compare(_ box: SearchBox, _ places: [Place]) throws {
        let named = try places.filter { place in
            let names = [place.name] + (place.otherNames ?? [])
            return try names.contains { name in
                try name.lowercased().contains("berl") && Database.terms(of: name).contains { $0.term == "berlin" }
            }
        }
        let found = try box.places.search(.word("Berlin")).all()
        check(Set(found.map(\.id)) == Set(named.map(\.id)) && !found.isEmpty, "all places named Berlin are found")
        let completion = try box.places.completions(of: "berli").first { $0.word.lowercased() == "berlin" }
        check(completion?.documents == named.count, "a completion says how many places have it")
        let berlin = try box.lines(for: "berlin").first
        check(berlin?.place.name == "Berlin", "a place of that name is first")
        check(berlin?.name.first?.isFound == true, "its name is highlighted")
        check(try box.lines(for: "san franc").allSatisfy { !$0.name.isEmpty }, "each line has a name")
        check(try box.suggestion(for: "Berlni") != nil, "a misspelt name has a suggestion")
        print("\nall checks passed")
    }
}
