#if TansuServer
import Foundation
import Testing

@Suite("The replay of recorded answers finds what differs")
struct ReplaySelfTests {
    private func differences(_ expected: String, _ status: Int, _ headers: [String: String], _ body: String) throws
        -> [String]
    {
        var answer = HTTPAnswer(status: status)
        answer.headers = headers.map { (name: $0.key, value: $0.value) }
        answer.body = Array(body.utf8)
        let exchange = try #require(Exchange.recorded.first)
        var comparison = AnswerComparison(tokens: Tokens(port: 5984))
        comparison.compare(exchange, try #require(JSON(expected.utf8)), answer)
        return comparison.differences
    }

    private let expected = #"""
        {"s":200,"h":{"etag":"\"<<R1>>\""},"b":{"_id":"a","_rev":"<<R1>>","_conflicts":["<<R2>>","1-aa"],"n":1}}
        """#
    private let one = "1-0123456789abcdef0123456789abcdef"
    private let two = "2-0123456789abcdef0123456789abcdef"

    @Test func anEqualAnswerHasNoDifferences() throws {
        let body = #"{"n":1,"_rev":"\#(one)","_id":"a","_conflicts":["1-aa","\#(two)"]}"#
        #expect(try differences(expected, 200, ["etag": "\"\(one)\""], body) == [])
    }

    @Test(
        "Each wrong detail is found",
        arguments: [
            (201, "1-0123456789abcdef0123456789abcdef", #","n":1"#),
            (200, "3-0123456789abcdef0123456789abcdef", #","n":1"#),
            (200, "1-0123456789abcdef0123456789abcdef", #","n":2"#),
            (200, "1-0123456789abcdef0123456789abcdef", ""),
            (200, "1-0123456789abcdef0123456789abcdef", #","n":1,"m":1"#),
        ])
    func eachWrongDetailIsFound(status: Int, etag: String, end: String) throws {
        let body = #"{"_rev":"\#(one)","_id":"a","_conflicts":["\#(two)","1-aa"]\#(end)}"#
        #expect(try !differences(expected, status, ["etag": "\"\(etag)\""], body).isEmpty)
    }

    @Test func aNameStandsForOneTextOnly() {
        var tokens = Tokens(port: 5984)
        let isBound = tokens.match("x <<R1>> y", "x \(one) y")
        let isOther = tokens.match("<<R1>>", two)
        let isSame = tokens.match("<<R1>>", one)
        let isNone = tokens.match("<<R3>>", "no revision")
        #expect(isBound && isSame && !isOther && !isNone)
        #expect((try? tokens.replaced("rev=<<R1>>")) == "rev=\(one)")
        #expect((try? tokens.replaced("<<R1.hash>>")) == "0123456789abcdef0123456789abcdef")
        #expect((try? tokens.replaced("<<R2>>")) == nil)
    }

    @Test func theOrderOfOtherListsCounts() throws {
        let expected = #"{"s":200,"b":{"rows":["<<R1>>",1]}}"#
        #expect(try differences(expected, 200, [:], #"{"rows":["\#(one)",1]}"#) == [])
        #expect(try !differences(expected, 200, [:], #"{"rows":[1,"\#(one)"]}"#).isEmpty)
    }

    @Test func theSpellingOfNumbersCountsWhereItWasRecorded() throws {
        #expect(try differences(#"{"s":200,"b":{"n":1.0}}"#, 200, [:], #"{"n":1}"#) == [])
        #expect(try !differences(#"{"s":200,"b":{"n":1.0},"raw":"{\"n\":1.0}"}"#, 200, [:], #"{"n":1}"#).isEmpty)
    }

    @Test func onlyTheSiteOfACookieIsFree() throws {
        let expected = #"{"s":200,"h":{"set-cookie":"A=b; HttpOnly"}}"#
        #expect(try differences(expected, 200, ["set-cookie": "A=b; HttpOnly; SameSite=Lax"], "") == [])
        #expect(try !differences(expected, 200, ["set-cookie": "A=c; HttpOnly; SameSite=Lax"], "").isEmpty)
        #expect(try !differences(expected, 200, ["set-cookie": "A=b; SameSite=Lax"], "").isEmpty)
    }

    @Test func allScenariosAreThere() {
        #expect(Exchange.recorded.count == 1233)
        #expect(Set(Exchange.recorded.map(\.scenario)).count == 21)
    }

    @Test func aFaultIsFoundInAHeldAnswer() throws {
        let exchange = try #require(Exchange.recorded.first)
        var answer = HTTPAnswer(status: 500)
        #expect(!Replay.faults(exchange, answer).isEmpty)
        answer.status = 200
        #expect(Replay.faults(exchange, answer).isEmpty)
        answer.headers = [(name: "content-type", value: "application/json")]
        #expect(!Replay.faults(exchange, answer).isEmpty)
    }
}
#endif
