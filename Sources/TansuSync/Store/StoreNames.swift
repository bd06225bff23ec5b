#if TansuSync
    /// The collections of the layer. All begin with `tansu.`.
    enum StoreNames {
        /// One document for each replicated collection.
        static let states = "tansu.sync"

        /// One record for each document that ever was.
        static func revisions(_ name: String) -> String { "tansu.revisions.\(name)" }
        /// Bodies that the collection does not have.
        static func bodies(_ name: String) -> String { "tansu.bodies.\(name)" }
        /// Documents that are not replicated.
        static func local(_ name: String) -> String { "tansu.local.\(name)" }
        /// The attachments of the winners.
        static func attachments(_ name: String) -> String { "tansu.attachments.\(name)" }

        /// All that belong to a replicated collection.
        static func all(_ name: String) -> [String] {
            [revisions(name), bodies(name), local(name), attachments(name)]
        }
    }
#endif
