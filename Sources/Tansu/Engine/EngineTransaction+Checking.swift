import CTansu

extension EngineTransaction {
    /// From now on a document that is not intact, by the checksum of its commit, is an error where it is read.
    func checkDocuments() throws {
        try call { _, transaction in _ = try engineCall { tansu_txn_check_documents(transaction, $0) } }
    }
}
