import ArgumentParser
import TansuBSON

struct AggregateCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "aggregate",
        abstract: "Groups documents and computes aggregates.",
        discussion: """
            The group is a JSON object with two members. "by" is a path, an array of paths or {"name": "path"}; \
            without it all documents are one group. In place of a path, {"$dateTrunc": {"date": "path", "unit": "month", \
            "timezone": "Europe/Berlin"}} is the beginning of the month of a date. "fields" has the name of each aggregate with an operator \
            and its path: $count, $sum, $avg, $min, $max, $first, $last or $distinct. The command prints one \
            JSON object per group and line, or a table. --orderby, --skip and --max apply to the groups. The \
            exit code is 1 when there is no group.

            EXAMPLES:
              tansu aggregate people.tansu people '{"fields": {"mean": {"$avg": "age"}}}'
              tansu aggregate people.tansu people '{"by": "age"}' --orderby -age --table
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The group, a JSON object such as {\"by\": \"age\", \"fields\": {\"n\": {\"$count\": true}}}.")
    var group: String
    @OptionGroup var arguments: QueryArguments
    @OptionGroup var order: OrderOption
    @Flag(help: "Print a table, cut to the terminal's width.") var table = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if table, output.json { throw ValidationError("\"--table\" and \"--json\" exclude each other") }
    }

    func execute() throws -> CommandExitCode {
        let group = try JSONArguments.document(group, name: "group")
        var (query, hints) = try arguments.resolved()
        try order.add(to: &hints)
        return try OpenDatabase.with(target, .read) { opened in
            let groups = try opened.existingCollection(target.collection)
                .aggregate(query, group: group, hints: hints)
            if output.json {
                try printResult(
                    ["groups": BSONValue(groups.map { .document($0) })], text: "", asJSON: true)
            } else {
                let writer = ResultWriter(format: table ? .table : .lines, canonical: false)
                _ = try writer.write { try groups.forEach($0) }
            }
            return groups.isEmpty ? .incomplete : .success
        }
    }
}
