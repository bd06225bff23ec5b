extension Database {
    /// How an aggregation pipeline was executed: print it, or read its parts.
    public struct PipelineExplanation: Sendable, Hashable {
        /// The stages, in their order.
        public let stages: [Stage]

        /// How the query that reads the collection was executed; `nil` where the pipeline begins with `$documents`.
        public let query: Explanation?

        /// How many bytes were spilled to temporary files because they did not fit into memory.
        public let spilledBytes: Int

        /// How long it took.
        public let milliseconds: Double

        /// The engine's explanation.
        public let document: BSONDocument

        init(_ document: BSONDocument) {
            self.document = document
            stages = document["stages"]?.arrayValue?.compactMap(\.documentValue).map(Stage.init) ?? []
            query = document["plan"]?.documentValue.map(Explanation.init)
            spilledBytes = document["spilledBytes"]?.intValue ?? 0
            milliseconds = document["milliseconds"]?.doubleValue ?? 0
        }
    }
}

extension Database.PipelineExplanation {
    /// A stage of the pipeline.
    public struct Stage: Sendable, Hashable {
        /// Its name, such as `$group`.
        public let name: String

        /// Whether the query that reads the collection does what it does, so that it has no other numbers.
        public let isInQuery: Bool

        /// How many documents it returned.
        public let returned: Int

        /// How long it took, without the stages before it.
        public let milliseconds: Double

        /// How many bytes it kept in memory.
        public let memory: Int

        init(_ stage: BSONDocument) {
            name = stage["stage"]?.stringValue ?? ""
            isInQuery = stage["by"] == "query"
            returned = stage["returned"]?.intValue ?? 0
            milliseconds = stage["milliseconds"]?.doubleValue ?? 0
            memory = stage["memory"]?.intValue ?? 0
        }
    }
}

extension Database.PipelineExplanation: CustomStringConvertible {
    /// The explanation, with a line for each stage.
    public var description: String {
        var lines = (query?.description).map { [$0] } ?? []
        lines += stages.map(\.description)
        if spilledBytes != 0 { lines.append("spilled to temporary files: \(spilledBytes) bytes") }
        lines.append("\(milliseconds) ms")
        return lines.joined(separator: "\n")
    }
}

extension Database.PipelineExplanation.Stage: CustomStringConvertible {
    /// The stage in one line.
    public var description: String {
        if isInQuery { return "\(name): by the query" }
        return "\(name): returned: \(returned); \(milliseconds) ms" + (memory == 0 ? "" : "; \(memory) bytes of memory")
    }
}
