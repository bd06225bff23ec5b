#if TansuServer
    import TansuBSON
    import TansuSync

    /// Reads what a `_bulk_get` request asks for, many documents in one transaction, so that the answer is made while little of it
    /// is in memory.
    struct BulkGetPages {
        /// The greatest number of documents of a page.
        private static let limit = 64
        /// The number of bytes of documents from which on a page is full.
        private static let byteLimit = 256 << 10

        typealias Page = [(item: BulkGetItem, results: [Swift.Result<RevisionAnswer, BulkGetItem.Failure>])]

        private let items: [BulkGetItem]
        private let query: DocumentQuery
        private let form: RevisionAnswer.Form
        private let collection: ReplicatedCollection
        private var position = 0

        init(
            _ items: [BulkGetItem], _ query: DocumentQuery, _ form: RevisionAnswer.Form,
            _ collection: ReplicatedCollection
        ) {
            self.items = items
            self.query = query
            self.form = form
            self.collection = collection
        }

        /// The next documents with what is answered for each; nil when there are no more.
        mutating func next() async throws -> Page? {
            guard position < items.count else { return nil }
            let wanted = items[position..<min(position + Self.limit, items.count)]
            let page = try await collection.read { [query, form] store in
                let records = try store.documents(wanted.compactMap(\.wantedID))
                var page: Page = []
                var size = 0
                for item in wanted {
                    guard size < Self.byteLimit else { break }
                    let record = item.wantedID.flatMap { records[BytewiseText($0)] }
                    let results = try item.results(of: record, query, form, in: store)
                    for case .success(let answer) in results { size += answer.text.fields.bytes.count }
                    page.append((item, results))
                }
                return page
            }
            position += page.count
            return page
        }
    }
#endif
