import TansuBSON

/// What the demo asks the database.
enum DemoQuery {
    static let collection = "cities"
    static let indexName = "by_country_and_population"
    static let indexKeys: BSONDocument = ["countrycode": 1, "population": -1]
    static let query: BSONDocument = ["countrycode": "BR", "population": ["$gte": 1_000_000]]
    static let hints: BSONDocument = [
        "$orderby": ["population": -1],
        "$fields": ["name": 1, "population": 1, "timezone": 1, "_id": 0],
        "$max": 10,
    ]

    /// Commands to go on with, each with what it shows; they work as they stand.
    static func nextCommands(program: String, path: String) -> [(purpose: String, command: String)] {
        let place = "\(FileNames.shellQuoted(path)) \(collection)"
        return [
            (
                "Find a city by any of its names, in any script",
                "\(program) find \(place) '{\"alternatenames\": \"東京\"}' "
                    + "--fields name,countrycode,population --table"
            ),
            (
                "Make that fast, and see that it is",
                "\(program) index create \(place) alternatenames"
            ),
            ("", "\(program) explain \(place) '{\"alternatenames\": \"東京\"}'"),
            (
                "Save a document of your own, and look at everything there is",
                "\(program) save \(FileNames.shellQuoted(path)) notes "
                    + "'{\"text\": \"Visit Tokyo\", \"done\": false}'"
            ),
            ("", "\(program) stats \(FileNames.shellQuoted(path))"),
            ("All that the program can do", "\(program) --help"),
        ]
    }
}
