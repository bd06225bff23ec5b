import TansuBSON

/// The index, the query and the next commands of the demo.
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

    /// The suggested next commands with their purposes. Each can be run as printed.
    static func nextCommands(program: String, path: String) -> [(purpose: String, command: String)] {
        let target = "\(shellQuoted(path)) \(collection)"
        return [
            (
                "Find a city by any of its names, in any script",
                "\(program) find \(target) '{\"alternatenames\": \"東京\"}' "
                    + "--fields name,countrycode,population --table"
            ),
            (
                "Create an index for this query, and explain the new plan",
                "\(program) index create \(target) alternatenames"
            ),
            ("", "\(program) explain \(target) '{\"alternatenames\": \"東京\"}'"),
            (
                "Save a document, and print the statistics of the database",
                "\(program) save \(shellQuoted(path)) notes "
                    + "'{\"text\": \"Visit Tokyo\", \"done\": false}'"
            ),
            ("", "\(program) stats \(shellQuoted(path))"),
            ("List all commands", "\(program) --help"),
        ]
    }
}
