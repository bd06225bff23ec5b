#if TansuSync
import Tansu
import TansuBSON

/// What a document of the database `_users` must be, by the design document that CouchDB gives that database.
package enum AccountRules {
    /// The collection of the accounts.
    package static let collection = CommandLimits.accounts
    /// What their ids begin with.
    package static let idPrefix = "org.couchdb.user:"

    /// Whether a document of a collection is an account, and no design document or `_local` one.
    package static func apply(to id: String, in collection: String) -> Bool {
        collection == self.collection && id.utf8.first != UInt8(ascii: "_")
    }

    /// Why a document is no account, in CouchDB's words; nil when it is one.
    ///
    /// - Parameters:
    ///   - fields: The fields of the document.
    ///   - formerRoles: The roles that the account has, for somebody who may not change them; nil for an admin.
    package static func refusal(of fields: BSONDocument, id: String, formerRoles: [String]? = nil) -> String? {
        guard fields["type"]?.stringValue == "user" else { return "doc.type must be user" }
        guard let name = fields["name"]?.stringValue, !name.isEmpty else { return "doc.name is required" }
        guard let list = fields["roles"] else { return "doc.roles must exist" }
        guard let values = list.arrayValue else { return "doc.roles must be an array" }
        let roles = values.compactMap(\.stringValue)
        guard roles.count == values.count else { return "doc.roles can only contain strings" }
        guard id == idPrefix + name else { return "Doc ID must be of the form org.couchdb.user:name" }
        // A password replaces what there is of another one.
        if fields["password"]?.isNull != false, let reason = refusal(ofHashIn: fields) { return reason }
        if let formerRoles, roles.bytewiseSet != formerRoles.bytewiseSet { return "Only _admin may set roles" }
        guard !roles.contains(where: { $0.hasPrefix("_") && $0 != "_metrics" }) else {
            return "No system roles (starting with underscore) in users db."
        }
        guard !name.hasPrefix("_") else { return "Username may not start with underscore." }
        guard !name.utf8.contains(UInt8(ascii: ":")) else { return "Character `:` is not allowed in usernames." }
        return nil
    }

    /// Why what replaces a password cannot be stored.
    private static func refusal(ofHashIn fields: BSONDocument) -> String? {
        if fields["password_sha"]?.stringValue?.isEmpty == false, fields["salt"]?.stringValue?.isEmpty != false {
            return "Users with password_sha must have a salt."
        }
        let scheme = fields["password_scheme"]?.stringValue ?? ""
        guard ["", "simple", "pbkdf2", "simple+pbkdf2"].contains(scheme) else {
            return "Password scheme `\(scheme)` not supported."
        }
        guard scheme == "pbkdf2" else { return nil }
        switch fields["iterations"] {
        case .int32, .int64, .double: break
        default: return "iterations must be a number."
        }
        return fields["derived_key"]?.stringValue == nil ? "derived_key must be a string." : nil
    }

    /// Why a document that another replica pushes is not stored. A password is hashed where it is set: hashed here, the
    /// revision would not be the same on all replicas.
    package static func refusal(ofPushed fields: BSONDocument, id: String) -> String? {
        if let reason = refusal(of: fields, id: id) { return reason }
        guard let password = fields["password"], !password.isNull else { return nil }
        return "An account that is replicated has the hash of its password instead of the password."
    }
}
#endif
