import Tansu
import TansuBSON

#if TansuServer
import TansuServer
#endif

extension CommandLimits {
    /// Those of this program.
    static let here = CommandLimits(
        hashed: { account, password in
            #if TansuServer
            try PasswordHash(password: password).stored(in: account)
            #else
            nil
            #endif
        },
        checkReplicable: SyncLayer.check)
}
