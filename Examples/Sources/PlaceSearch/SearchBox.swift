import Tansu

/// What a search box shows while someone types: how the last word may go on, and the places that are found so far.
struct SearchBox {
    /// A line of the list.
    struct Line {
        let place: Place
        /// The name that was found, divided into what was typed and what was not.
        let name: [(text: Substring, isFound: Bool)]
    }

    let places: Database.Collection<Place>

    init(_ db: Database) throws {
        places = try db.collection(
            "places", of: Place.self, indexes: [.text(on: \.name, \.otherNames, weights: [\.name: 5])])
    }

    /// The endings of the last word, those of most places first.
    func completions(of typed: String) throws -> [String] {
        try places.completions(of: typed, limit: 5).map(\.text)
    }

    /// The places with all the words, of which the last one may be incomplete.
    func lines(for typed: String) throws -> [Line] {
        guard let search = search(for: typed) else { return [] }
        // A place with many names fits no worse: with b = 0 the length of its texts does not count. Of those that fit equally
        // well the greatest is first.
        let found = try places.search(search.scored(b: 0)).sorted(by: \.population, .descending)
        return try found.limit(5).ranked().all().map { result in
            let names = [result.name] + (result.otherNames ?? [])
            let found = try names.lazy.compactMap { name in try part(of: name, search) }.first {
                $0.contains(where: \.isFound)
            }
            return Line(place: result.value, name: found ?? [(result.name[...], false)])
        }
    }

    /// What may have been meant when nothing is found.
    func suggestion(for typed: String) throws -> String? {
        let found = try places.suggestions(for: typed)
        return found.hasSuggestions ? found.text : nil
    }

    private func search(for typed: String) -> TextSearch? {
        let words = typed.split(separator: " ").map(String.init)
        guard let last = words.last else { return nil }
        // A typed space ends a word. Whole words come before those that only begin so.
        let end: TextSearch = typed.hasSuffix(" ") ? .word(last) : .prefix(last) || .word(last).boosted(by: 3)
        return words.dropLast().map { TextSearch.word($0) }.reduce(end) { $0 && $1 }
    }

    private func part(of name: String, _ search: TextSearch) throws -> [(text: Substring, isFound: Bool)]? {
        try Database.highlights(of: name, for: search, snippets: 1).snippets.first?.parts(of: name)
    }
}
