#if TansuServer
import TansuBSON
import TansuServer

/// An account with the hash of its password instead of the password; nil in a program without the server.
func hashed(_ account: BSONDocument, _ password: String) throws -> BSONDocument? {
    try PasswordHash(password: password).stored(in: account)
}
#else
import TansuBSON

func hashed(_ account: BSONDocument, _ password: String) throws -> BSONDocument? { nil }
#endif
