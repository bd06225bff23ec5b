import ArgumentParser
import TansuBSON

struct GetCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Prints the document with a given _id.",
        discussion: """
            The id is JSON, such as 7 or '"mike"' or '{"$oid": "…"}'. 24 hexadecimal digits are an ObjectID. \
            Text that is not JSON is a string. The exit code is 1 when there is no such document.

            EXAMPLES:
              tansu get people.tansu people mike
              tansu get people.tansu people 7 --canonical
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The document's _id.") var id: String
    @Flag(help: "Print canonical extended JSON, which preserves all types.") var canonical = false
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        let id = JSONArguments.id(id)
        return try OpenDatabase.with(target, .read) { opened in
            guard let document = try opened.existingCollection(target.collection).get(id) else {
                if output.json {
                    try printLine("{\"ok\": true, \"document\": null}")
                } else {
                    writeError("tansu: No document in collection \"\(target.collection)\" has the _id \(id)")
                }
                return .incomplete
            }
            let text = document.json(canonical: canonical)
            try printLine(output.json ? "{\"ok\": true, \"document\": \(text)}" : text)
            return .success
        }
    }
}
