import Tansu

/// Accounts and the ledger of what went between them: what the server of this example keeps.
struct Bank: Sendable {
    /// An account, called by its number.
    struct Account: Codable, Sendable, Identifiable {
        var id: Int
        var balance: Int
    }

    /// One transfer that was done.
    struct Entry: Codable, Sendable, Identifiable {
        var id = ObjectID()
        var client: Int
        var from: Int
        var to: Int
        var amount: Int

        /// Takes the amount out of the account that pays.
        @Sendable func take(from account: inout Account) throws {
            guard account.balance >= amount else { throw InsufficientFunds() }
            account.balance -= amount
        }

        /// Adds it to the account that gets it.
        @Sendable func give(to account: inout Account) {
            account.balance += amount
        }
    }

    struct InsufficientFunds: Error {}

    static let accountCount = 20
    static let openingBalance = 1000
    static let total = accountCount * openingBalance

    let db: Database
    let accounts: Database.Collection<Account>
    let ledger: Database.Collection<Entry>

    init(_ db: Database) throws {
        self.db = db
        accounts = try db.collection("accounts", of: Account.self)
        ledger = try db.collection("ledger", of: Entry.self)
    }

    func open() async throws {
        try await ledger.ensureIndex("by_client", on: ["client": .ascending])
        try await accounts.insert((0..<Self.accountCount).map { Account(id: $0, balance: Self.openingBalance) })
    }

    /// Moves money: out of one account, into the other and into the ledger, or nothing of all that.
    func transfer(_ entry: Entry) async throws {
        try await db.write { transaction in
            let accounts = try transaction.collection("accounts", of: Account.self)
            try accounts.update(id: entry.from, entry.take)
            try accounts.update(id: entry.to, entry.give)
            try transaction.collection("ledger", of: Entry.self).insert(entry)
        }
    }

    /// The same, with a question to somebody else on the way, for which all other writers wait.
    func transfer(_ entry: Entry, asking approve: () async throws -> Void) async throws {
        try await db.write { transaction in
            let accounts = try transaction.collection("accounts", of: Account.self)
            try await accounts.update(id: entry.from, entry.take)
            try await approve()
            try await accounts.update(id: entry.to, entry.give)
            try await transaction.collection("ledger", of: Entry.self).insert(entry)
        }
    }

    /// All the money, as of one moment, and how many transfers led there.
    func audit() async throws -> (total: Int, transfers: Int) {
        try await db.read { transaction in
            let sum = try transaction.collection("accounts", of: Account.self).find().figures(.sum(\.balance))
            return (sum, try transaction.collection("ledger").count())
        }
    }
}
