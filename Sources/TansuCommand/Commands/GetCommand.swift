import ArgumentParser
import TansuBSON

struct GetCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Prints the document with an _id.",
        discussion: """
            The id is JSON, such as 7 or '"mike"' or '{"$oid": "…"}'; 24 hexadecimal digits are an \
            ObjectID, and a word that is no JSON is that text. Exits with 1 when there is no such document.

            EXAMPLES:
              tansu get people.tansu people mike
              tansu get people.tansu people 7 --canonical
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The document's _id.") var id: String
    @Flag(help: "Print canonical extended JSON, which keeps every type.") var canonical = false
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        let id = JSONArguments.id(id)
        return try Store.with(target.database, .read) { store in
            guard let document = try store.existingCollection(target.collection).get(id) else {
                if output.json {
                    try printLine("{\"ok\": true, \"document\": null}")
                } else {
                    writeError("tansu: No document has the _id \(id) in \(target.collection).")
                }
                return .incomplete
            }
            let text = document.json(canonical: canonical)
            try printLine(output.json ? "{\"ok\": true, \"document\": \(text)}" : text)
            return .success
        }
    }
}
