import ArgumentParser
import Tansu
import TansuBSON

struct AggregateCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "aggregate",
        abstract: "Runs an aggregation pipeline, or groups documents.",
        discussion: """
            A pipeline is a JSON array of stages as in MongoDB, such as $match, $group, $lookup, $unwind and $sort. The \
            command prints the documents of the last stage, one JSON object per line, or a table; $out and $merge \
            store them. A query is a first $match; --orderby, --skip and --max are last stages.

            A group, the short form, is a JSON object with two members. "by" is a path, an array of paths or \
            {"name": "path"}; without it all documents are one group. In place of a path, {"$dateTrunc": {"date": "path", \
            "unit": "month", "timezone": "Europe/Berlin"}} is the beginning of the month of a date. "fields" has the name \
            of each aggregate with an operator and its path: $count, $sum, $avg, $min, $max, $first, $last or $distinct. \
            --orderby, --skip and --max apply to the groups.

            The exit code is 1 when there is no document or group.

            EXAMPLES:
              tansu aggregate people.tansu people '[{"$sortByCount": "$age"}]' --table
              tansu aggregate people.tansu people '[{"$unwind": "$pets"}]' --explain
              tansu aggregate people.tansu people '{"fields": {"mean": {"$avg": "age"}}}'
              tansu aggregate people.tansu people '{"by": "age"}' --orderby -age --table
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(
        help: """
            The pipeline, a JSON array of stages, or a group, a JSON object such as \
            {"by": "age", "fields": {"n": {"$count": true}}}.
            """)
    var pipeline: String
    @OptionGroup var arguments: QueryArguments
    @OptionGroup var order: OrderOption
    @Flag(help: "Print the plan, and how the stages ran, instead of documents.") var explain = false
    @Flag(help: "Print a table, cut to the terminal's width.") var table = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if table, output.json || explain {
            throw ValidationError("\"--table\" cannot be combined with \"--json\" or \"--explain\"")
        }
    }

    func execute() throws -> CommandExitCode {
        if let stages = try JSONArguments.stages(pipeline, name: "pipeline") { return try execute(stages) }
        let group = try JSONArguments.document(pipeline, name: "group")
        var (query, hints) = try arguments.resolved()
        try order.add(to: &hints)
        if explain { hints["$explain"] = true }
        return try OpenDatabase.with(target, .read) { opened in
            let groups = try opened.existingCollection(target.collection)
                .aggregate(query, group: group, hints: hints)
            if explain {
                let plan = groups.first ?? [:]
                let text = PlanFormatter(plan, terminal: .output) { keys in
                    OpenDatabase.indexCommand(
                        target.database, target.collection, keys: keys, key: target.opening.key)
                }
                try printPlan(plan, text: text.lines().joined(separator: "\n"))
            } else if output.json {
                try printResult(
                    ["groups": BSONValue(groups.map { .document($0) })], text: "", asJSON: true)
            } else {
                let writer = ResultWriter(format: table ? .table : .lines, canonical: false)
                _ = try writer.write { try groups.forEach($0) }
            }
            return groups.isEmpty ? .incomplete : .success
        }
    }

    private func printPlan(_ plan: BSONDocument, text: String) throws {
        try printResult(["plan": .document(plan)], text: text, asJSON: output.json)
    }
}

// MARK: - Pipelines

extension AggregateCommand {
    private func execute(_ stages: [BSONDocument]) throws -> CommandExitCode {
        let (stages, hints) = try resolved(stages)
        let outputs = explain ? [] : stages.compactMap(\.pipelineTarget)
        for name in outputs { try CommandLimits.check(name) }
        return try OpenDatabase.with(target, outputs.isEmpty ? .read : .write) { opened in
            for name in outputs { try CommandLimits.check(output: name, of: opened.database) }
            let rows = try opened.existingCollection(target.collection)
                .aggregate(Database.Pipeline(documents: stages), hints: hints)
            if explain {
                let explanation = try rows.explain()
                try printPlan(explanation.document, text: explanation.description)
                return .success
            }
            let writer = ResultWriter(
                format: table ? .table : output.json ? .json : .lines, canonical: false)
            // A table reads the documents twice, and a pipeline may make others then.
            let all = table ? try rows.all() : []
            let count = try writer.write { body in
                if table { try all.forEach(body) } else { try rows.forEach(body) }
            }
            return count == 0 && outputs.isEmpty ? .incomplete : .success
        }
    }

    /// The stages with those of the other arguments, and the hints.
    private func resolved(_ stages: [BSONDocument]) throws -> ([BSONDocument], BSONDocument) {
        var stages = stages
        var (query, hints) = try arguments.resolved()
        try order.add(to: &hints)
        if !query.isEmpty { stages.insert(["$match": .document(query)], at: 0) }
        for (hint, stage) in [("$orderby", "$sort"), ("$skip", "$skip"), ("$max", "$limit")] {
            if let value = hints.removeValue(forKey: hint) { stages.append([stage: value]) }
        }
        return (stages, hints)
    }
}
