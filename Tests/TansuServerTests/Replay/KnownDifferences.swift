#if TansuServer
/// The recorded answers that differ on purpose, by scenario and number, with the reason.
///
/// A listed one that is equal is a failure as well, so that the list stays true.
enum KnownDifferences {
    static func reason(_ scenario: String, _ number: Int) -> String? {
        table[scenario]?.first { $0.numbers.contains(number) }?.text
    }

    private struct Reason {
        let numbers: Set<Int>
        let text: String

        init(_ text: String, _ numbers: Int...) {
            self.text = text
            self.numbers = Set(numbers)
        }
    }

    private static let fault = "a fault of CouchDB, which answers 5xx: here 4xx, or what is right"
    private static let javaScript = "JavaScript is not run: 501"
    private static let validation = "JavaScript is not run: design documents are stored without compiling them"

    private static let table: [String: [Reason]] = [
        "server": [Reason("the server is not CouchDB", 1, 4)],
        "database": [
            Reason(fault, 75, 77, 107), Reason("whether a compaction runs at that moment", 105),
        ],
        "bulk_docs": [Reason(fault, 28)],
        "bulk_get": [
            Reason(fault, 13),
            Reason("an attachment pushed without revpos has the generation of its revision, not 0", 6, 8, 21),
        ],
        "revs_diff": [
            Reason(fault, 12),
            Reason("a revision that is asked for twice is answered once, and only if it is missing", 20),
        ],
        "attachments": [Reason("\(fault); a wrong digest is 412", 24, 101)],
        "changes": [
            Reason(fault, 12, 48),
            Reason("last_seq is the change that reached the limit, not the one after it", 89),
        ],
        "find": [
            Reason(fault, 20, 91),
            Reason("the bookmark that an answer gave is taken", 16),
            Reason("there are no text indexes, so that $text is no operator", 50),
            Reason("what only the files of a view have", 70),
        ],
        "design": [
            Reason(
                javaScript, 3, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 22, 23, 25, 26, 27, 28, 29, 33, 36, 38, 44, 45,
                51, 56),
            Reason(validation, 60, 66), Reason(fault, 62, 70),
            Reason("what only the files of a view have", 43),
            Reason("JSON indexes are no views: query with _find", 82),
        ],
        "input": [
            Reason("documents are nested 200 levels deep at most", 65, 66),
            Reason("the documents that are nested too deep are not there", 72),
            Reason(fault, 73),
        ],
        "authz": [Reason("\(fault); who may not gets 403", 16, 21)],
        "partition": [Reason("databases are not partitioned: 501", 2, 3, 4, 7, 9, 11, 12, 13, 15, 16, 17, 18)],
    ]
}
#endif
