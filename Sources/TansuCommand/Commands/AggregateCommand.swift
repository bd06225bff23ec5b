import ArgumentParser
import TansuBSON

struct AggregateCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "aggregate",
        abstract: "Groups documents and prints figures about each group.",
        discussion: """
            The group is a JSON object: "by", a path, an array of paths or {"name": "path"}, without which \
            all documents are one group; and "fields", which has for each figure's name an operator with \
            its path: $count, $sum, $avg, $min, $max, $first, $last or $distinct. One JSON object a group \
            comes on a line of its own, or all of them as a table; --orderby, --skip and --max are about \
            groups, not documents. Exits with 1 when there is no group.

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
        if table, output.json { throw ValidationError("--table is for people: it does not go with --json.") }
    }

    func execute() throws -> Outcome {
        let group = try JSONArguments.document(group, name: "group")
        var (query, hints) = try arguments.resolved()
        try order.add(to: &hints)
        return try Store.with(target.database, .read) { store in
            let groups = try store.existingCollection(target.collection)
                .aggregate(query, group: group, hints: hints)
            if output.json {
                try printAnswer(
                    ["groups": BSONValue(groups.map { .document($0) })], text: "", asJSON: true)
            } else {
                var answer = AnswerWriter(style: table ? .table : .lines, canonical: false)
                for group in groups { try answer.write(group) }
                try answer.finish()
            }
            return groups.isEmpty ? .incomplete : .success
        }
    }
}
