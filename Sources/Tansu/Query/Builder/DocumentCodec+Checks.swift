extension DocumentCodec: CodecChecks {
    package func checkOrder(_ hints: BSONDocument) throws {
        // The type of a document says nothing of its fields.
        guard Element.self != BSONDocument.self else { return }
        for path in hints["$orderby"]?.documentValue?.keys ?? [] {
            try StoredOrder.check(path: path, of: Element.self, strategies)
        }
    }

    package func checkStoresID() throws {
        if StoredForm.lacksID(Element.self) { throw TansuError(computedIDOf: Element.self) }
    }
}
