#if TansuSync
import Foundation
import TansuBSON
import Testing

@testable import TansuSync

@Suite("Mango: selectors")
struct SelectorTests {
    private func matches(_ selector: String, _ document: BSONDocument) throws -> Bool {
        try Mango.Selector(try #require(try BSONValue(plainJSON: selector).documentValue)).matches(document)
    }

    private func error(_ selector: String) throws -> Mango.QueryError? {
        let document = try #require(try BSONValue(plainJSON: selector).documentValue)
        do throws(Mango.QueryError) {
            _ = try Mango.Selector(document)
            return nil
        } catch {
            return error
        }
    }

    @Test("A missing field matches nothing but $exists: false, and no way to it not even that")
    func missing() throws {
        for selector in [
            #"{"b": {"$ne": 1}}"#, #"{"b": {"$nin": [1]}}"#, #"{"$not": {"b": 1}}"#, #"{"b": null}"#,
            #"{"b": {"$not": {"$regex": "x"}}}"#, #"{"a.b": {"$exists": false}}"#, #"{"t.7": {"$exists": false}}"#,
        ] {
            #expect(try !matches(selector, ["a": 1, "t": [1]]), "\(selector)")
        }
        #expect(try matches(#"{"b": {"$exists": false}}"#, ["a": 1]))
        #expect(try matches(#"{"$not": {"b": {"$exists": true}}}"#, ["a": 1]))
    }

    @Test("Arrays are not looked into, except by $in and what names elements")
    func arrays() throws {
        let document: BSONDocument = ["t": ["a", "b", ["c": 1]]]
        #expect(try !matches(#"{"t": "a"}"#, document))
        #expect(try matches(#"{"t": {"$in": ["x", "b"]}}"#, document))
        #expect(try !matches(#"{"t": {"$in": [["a", "b", {"c": 1}]]}}"#, document))
        #expect(try matches(#"{"t.1": "b", "t.+2.c": 1}"#, document))
        #expect(try matches(#"{"t": {"$elemMatch": {"c": 1}}}"#, document))
        #expect(try matches(#"{"t": {"$all": ["b", "a"]}}"#, document))
        #expect(try matches(#"{"n": {"$all": [[1, 2]]}}"#, ["n": [1, 2.0]]))
        #expect(try !matches(#"{"n": {"$all": [2]}}"#, ["n": [1, 2.0]]))
        #expect(try !matches(#"{"n": {"$all": []}}"#, ["n": []]))
        #expect(try !matches(#"{"n": {"$allMatch": {"$gt": 0}}}"#, ["n": []]))
    }

    @Test("Field names have dots between keys, and a backslash in front of a dot of a key")
    func paths() throws {
        #expect(try matches(#"{"a\\.b": 1}"#, ["a.b": 1]))
        #expect(try matches(#"{"a.b": 1}"#, ["a": ["b": 1]]))
        #expect(try matches(#"{"a": {"b": 1, "c": {"$gt": 1}}}"#, ["a": ["b": 1, "c": 2]]))
        #expect(try error(#"{"a..b": 1}"#)?.name == "invalid_field_name")
        #expect(try error(#"{"a": {"": 1}}"#)?.reason == "Invalid field name: a.")
    }

    @Test("Ids are compared by their bytes, other text by the collation")
    func ids() throws {
        #expect(try matches(#"{"_id": {"$lt": "a"}}"#, ["_id": "B"]))
        #expect(try !matches(#"{"name": {"$lt": "a"}}"#, ["name": "B"]))
        #expect(try matches(#"{"_id": {"$gt": {"a": 1}}}"#, ["_id": ""]))
    }

    @Test("A prefix ends with a whole character")
    func prefixes() throws {
        #expect(try matches(#"{"s": {"$beginsWith": "caf"}}"#, ["s": "cafe\u{301}"]))
        #expect(try !matches(#"{"s": {"$beginsWith": "cafe"}}"#, ["s": "cafe\u{301}"]))
        #expect(try matches(#"{"s": {"$beginsWith": ""}}"#, ["s": ""]))
        #expect(try !matches(#"{"s": {"$beginsWith": ""}}"#, ["s": 1]))
        #expect(try !matches(#"{"s": {"$beginsWith": "café"}}"#, ["s": "cafe\u{301}"]))
    }

    @Test("Regular expressions see bytes, as CouchDB's do, unless they ask for UTF-8")
    func patterns() throws {
        #expect(try matches(#"{"s": {"$regex": "^c.+t$"}}"#, ["s": "chat"]))
        #expect(try matches(#"{"s": {"$regex": "^..$"}}"#, ["s": "é"]))
        #expect(try matches(#"{"s": {"$regex": "(*UTF8)^.$"}}"#, ["s": "é"]))
        #expect(try matches(#"{"s": {"$regex": ""}}"#, ["s": ""]))
        #expect(try matches(#"{"s": {"$regex": "(?i)ABC"}}"#, ["s": "xabcx"]))
        // Each byte is a Latin character.
        #expect(try !matches(#"{"s": {"$regex": "^caf\\b"}}"#, ["s": "café"]))
        #expect(try matches(#"{"s": {"$regex": "^caf\\b"}}"#, ["s": "caf é"]))
        #expect(try matches(#"{"s": {"$regex": "^\\w\\w$"}}"#, ["s": "º"]))
        #expect(try !matches(#"{"s": {"$regex": "\\s"}}"#, ["s": "à"]))
        #expect(try matches(#"{"s": {"$regex": "^[[:upper:]][[:punct:]]$"}}"#, ["s": "é"]))
        #expect(try matches(#"{"s": {"$regex": "(?i)^[[:upper:]]É$"}}"#, ["s": "xÉ"]))
        #expect(try error(#"{"s": {"$regex": "["}}"#)?.reason == "Bad argument for operator $regex: <<91>>")
    }

    @Test("A regular expression that takes too long is an error, not a wrong answer")
    func slowPatterns() throws {
        let text = String(repeating: "a", count: 5000) + "b"
        for pattern in ["(a+)+$", "(a|aa)+$", "(a*)*(a*)*[c-d]"] {
            let selector = try Mango.Selector(["s": ["$regex": .string(pattern)]])
            #expect(throws: Mango.QueryError.self, "\(pattern)") { try selector.matches(["s": .string(text)]) }
        }
    }

    @Test("$mod knows only integers, and no division fails")
    func remainders() throws {
        #expect(try matches(#"{"n": {"$mod": [5, 2]}}"#, ["n": 7]))
        #expect(try !matches(#"{"n": {"$mod": [5, 2]}}"#, ["n": 7.0]))
        #expect(try matches(#"{"n": {"$mod": [-1, 0]}}"#, ["n": .int64(.min)]))
        #expect(try error(#"{"n": {"$mod": [0, 1]}}"#)?.name == "bad_arg")
        #expect(try error(#"{"n": {"$mod": [2.0, 1]}}"#)?.reason == "Bad argument for operator $mod: [2.0,1]")
    }

    @Test("Values that JSON lacks match as their extended JSON")
    func otherTypes() throws {
        let document: BSONDocument = ["at": .date(0), "id": .objectID(ObjectID()), "n": .double(.nan)]
        #expect(try matches(#"{"at": {"$type": "object"}, "id": {"$type": "object"}}"#, document))
        #expect(try matches(#"{"at.$date": {"$lt": "2000"}}"#, document))
        #expect(try matches(#"{"at": {"$eq": {"$date": "1970-01-01T00:00:00Z"}}}"#, document))
        #expect(try matches(#"{"at": {"$keyMapMatch": {"$eq": "$date"}}}"#, document))
        #expect(try matches(#"{"n": {"$gt": "text"}}"#, document))
    }

    @Test("A field can begin with a dollar sign below another one only as an operator")
    func operators() throws {
        #expect(try error(#"{"a": {"$foo": 1}}"#)?.reason == "Invalid operator: $foo")
        #expect(try error(#"{"$gt": 1}"#)?.name == "invalid_selector")
        #expect(try error(#"{"$not": {"$eq": 1}}"#)?.name == "invalid_selector")
        #expect(try error(#"{"$text": "x"}"#)?.reason == "Unsupported operator: $text")
        #expect(try error(#"{"a": {"$near": 1}}"#)?.reason == "Unsupported operator: $near")
        #expect(
            try error(#"{"a": {"$in": {"b": [1.5, "x", null]}}}"#)?.reason
                == "Bad argument for operator $in: {[{<<98>>,[1.5,<<120>>,null]}]}")
    }

    @Test("Selectors that are too deep or too large are errors")
    func bounds() throws {
        var deep: BSONValue = 1
        for _ in 0..<5000 { deep = ["$not": ["a": deep]] }
        #expect(throws: Mango.QueryError.self) { try Mango.Selector(try #require(deep.documentValue)) }
        let wide = BSONArray(repeatElement(["a": 1], count: 10_001))
        #expect(throws: Mango.QueryError.self) { try Mango.Selector(["$or": .array(wide)]) }
        let nested = String(repeating: #"{"$and":["#, count: 60) + #"{"a":1}"# + String(repeating: "]}", count: 60)
        #expect(try matches(nested, ["a": 1]))
    }

    @Test("The stack of a thread with 512 KiB is enough for the deepest selectors")
    func smallStack() async throws {
        let result = await withCheckedContinuation { continuation in
            let thread = Thread {
                var inner: BSONValue = ["$eq": 1]
                var value: BSONValue = 1
                for _ in 0..<61 {
                    inner = ["$elemMatch": inner]
                    value = [value]
                }
                let tooDeep = (0..<62).reduce(["a": inner] as BSONDocument) { selector, _ in
                    ["$not": .document(selector)]
                }
                do {
                    let selector = try Mango.Selector(["a": inner])
                    let refused = Result { try Mango.Selector(tooDeep) }
                    let deepest = (0..<BSONDocument.maximumDepth).reduce(1 as BSONValue) { value, _ in [value] }
                    let order = try Collation.shared().order(deepest, deepest)
                    let isMatch = try selector.matches(["a": value])
                    if case .failure(let error) = refused, error is Mango.QueryError, order == .same {
                        continuation.resume(returning: isMatch)
                    } else {
                        continuation.resume(returning: false)
                    }
                } catch {
                    continuation.resume(returning: false)
                }
            }
            thread.stackSize = 512 * 1024
            thread.start()
        }
        #expect(result)
    }
}
#endif
