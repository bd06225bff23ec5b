import Foundation
import TansuBSON
import Testing

@testable import Tansu
@testable import TansuCommand

@Suite("tansu import --sqlite", .enabled(if: SQLiteFile.isInstalled))
struct SQLiteImportTests {
    private func command(_ sql: String) throws -> Command {
        let command = try Command()
        try SQLiteFile(command.path("old.db")).run(sql)
        return command
    }

    @Test("values keep their types; declared types make dates, truth values and documents")
    func types() throws {
        let command = try command(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, born DATE, seen DATETIME, ok BOOLEAN, j JSON, pic BLOB, x REAL, n);
            INSERT INTO t VALUES
              (1, '2001-02-03', 1700000000, 1, '{"a": [1, 2]}', x'00ff', 1.5, 'text'),
              (7000000000, 'someday', 1700000000123, 2, 'no JSON', null, null, 5),
              (-3, 2460000.5, '2001-02-03 04:05:06', 0, '7', x'', 2.0, x'01');
            """)
        let result = try command.tansu("import", "db", "--sqlite", "old.db")
        #expect(result.status == 0, "\(result.error)")
        let expected: [BSONDocument] = [
            [
                "_id": .int32(-3), "born": .date(1_677_283_200_000), "seen": .date(981_173_106_000),
                "ok": false, "j": 7, "pic": .binary(BSONBinary([])), "x": .double(2), "n": .binary(BSONBinary([1])),
            ],
            [
                "_id": .int32(1), "born": .date(981_158_400_000), "seen": .date(1_700_000_000_000), "ok": true,
                "j": ["a": [1, 2]], "pic": .binary(BSONBinary([0, 255])), "x": .double(1.5), "n": "text",
            ],
            [
                "_id": .int64(7_000_000_000), "born": "someday", "seen": .date(1_700_000_000_123), "ok": 2,
                "j": "no JSON", "pic": .null, "x": .null, "n": 5,
            ],
        ]
        #expect(try command.tansu("find", "db", "t", "{}", "--canonical").documents() == expected)
    }

    @Test("the _id is the primary key, all columns of it, or the row id; a column _id is taken first")
    func keys() throws {
        let command = try command(
            """
            CREATE TABLE name (code TEXT PRIMARY KEY, v);
            CREATE TABLE pair (a TEXT, b INT, PRIMARY KEY (b, a)) WITHOUT ROWID;
            CREATE TABLE none (v, rowid TEXT);
            CREATE TABLE own (k INTEGER PRIMARY KEY, _id TEXT);
            INSERT INTO name VALUES ('x', 1), (NULL, 2);
            INSERT INTO pair VALUES ('x', 1), ('y', 1);
            INSERT INTO none VALUES ('v', 'r');
            INSERT INTO own VALUES (1, 'mine');
            """)
        let result = try command.tansu("import", "db", "--sqlite", "old.db")
        #expect(result.status == 1)
        #expect(result.error == "name, row 2: The key \"code\" is null\n")
        func found(_ name: String) throws -> [BSONDocument] { try command.tansu("find", "db", name).documents() }
        #expect(try found("name") == [["_id": "x", "v": 1]])
        #expect(
            try found("pair") == [
                ["_id": ["b": 1, "a": "x"], "a": "x", "b": 1], ["_id": ["b": 1, "a": "y"], "a": "y", "b": 1],
            ])
        #expect(try found("none") == [["_id": 1, "v": "v", "rowid": "r"]])
        #expect(try found("own") == [["_id": "mine", "k": 1]])
        // Again: the same documents are replaced.
        _ = try command.tansu("import", "db", "--sqlite", "old.db")
        #expect(try found("none").count == 1)
    }

    @Test("indexes are carried over, and what has no counterpart is said")
    func indexes() throws {
        let command = try command(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE, b, c NOT NULL UNIQUE, "d.e");
            INSERT INTO t VALUES (1, null, 1, 1, 1), (2, null, 2, 2, 1), (3, 'A', 2, 3, 1);
            CREATE UNIQUE INDEX by_a ON t (a);
            CREATE INDEX by_b ON t (b DESC, id);
            CREATE INDEX by_e ON t ("d.e");
            CREATE INDEX upper ON t (upper(a));
            CREATE INDEX part ON t (b) WHERE b > 1;
            """)
        let result = try command.tansu("import", "db", "--sqlite", "old.db")
        #expect(result.status == 0 && result.error.contains("Index \"upper\" is of an expression"))
        #expect(result.error.contains("Index \"part\" has a condition in SQL"))
        let db = try Database(path: command.path("db"))
        let indexes = try db.collection("t").indexDocuments()
        func definition(_ name: String) throws -> BSONDocument {
            try #require(indexes.first { $0["name"] == .string(name) }, "\(indexes)")
        }
        let byA = try definition("by_a")
        #expect(byA["unique"] == true && byA["caseInsensitive"] == true)
        #expect(byA["partialFilter"] == ["a": ["$ne": nil]])
        #expect(try definition("by_b")["keys"] == ["b": -1, "_id": 1])
        #expect(try definition("c_1")["unique"] == true && definition("c_1")["partialFilter"] == nil)
        #expect(try definition("by_e")["entries"]?.intValue == 3)
        #expect(indexes.count == 4)
    }

    @Test("tables are chosen by --table, in SQLite's way without case; one may have another name")
    func tables() throws {
        let command = try command(
            """
            CREATE TABLE a (x); CREATE TABLE b (x); CREATE VIEW v AS SELECT x FROM a;
            INSERT INTO a VALUES (1); INSERT INTO b VALUES (2);
            """)
        try command.succeed("import", "db", "--sqlite", "old.db")
        #expect(try command.tansu("collections", "list", "db", "--json").output.contains("\"v\"") == false)
        try command.succeed("import", "other", "--sqlite", "old.db", "--table", "A", "--table", "v")
        #expect(try command.tansu("count", "other", "a").output == "1\n")
        #expect(try command.tansu("count", "other", "v").output == "1\n")
        #expect(try command.tansu("count", "other", "b").status == 66)
        try command.succeed("import", "other", "--sqlite", "old.db", "--table", "b", "--collection", "c")
        #expect(try command.tansu("count", "other", "c").output == "1\n")
        let absent = try command.tansu("import", "third", "--sqlite", "old.db", "--table", "absent")
        #expect(absent.status == 66 && absent.error.contains("there are \"a\", \"b\", \"v\""))
        #expect(!command.exists("third"))
    }

    @Test("a database in WAL mode is read while another program has it open, in one snapshot")
    func writeAheadLog() throws {
        let command = try Command()
        let writer = try SQLiteFile(command.path("old.db"))
        try writer.run("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
        let database = try SQLiteDatabase(path: command.path("old.db"), tables: [], collection: nil)
        try writer.run("INSERT INTO t VALUES (3)")
        let rows = try #require(database.collections.first).open()
        var count = 0
        while try rows.nextDocument() != nil { count += 1 }
        #expect(count == 2)
    }

    @Test("a database that another program is writing is refused, not read without locks")
    func locked() throws {
        let command = try command("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        let writer = try SQLiteFile(command.path("old.db"))
        try writer.run("BEGIN EXCLUSIVE; INSERT INTO t VALUES (2)")
        let result = try command.tansu("import", "db", "--sqlite", "old.db", "--wait", "0")
        #expect(result.status == 75 && result.error.contains("is being written by another program"), "\(result.error)")
        #expect(!command.exists("db"))
        try writer.run("COMMIT")
        try command.succeed("import", "db", "--sqlite", "old.db", "--wait", "0")
    }

    @Test("a table that cannot be read or named here does not keep the others from being imported")
    func faults() throws {
        let command = try command(
            """
            CREATE TABLE "tansu.x" (x); CREATE TABLE "" (x); CREATE TABLE t (x); CREATE VIEW v AS SELECT * FROM absent;
            CREATE TABLE "\(String(repeating: "n", count: 200))" (x);
            INSERT INTO t VALUES (1); INSERT INTO "tansu.x" VALUES (2);
            """)
        for (words, faults, text) in [
            ([], 3, "\"tansu.x\" was not imported"), (["--drop", "--yes"], 3, "\"tansu.x\" was not imported"),
            (["--table", "t", "--table", "v"], 1, "The table \"v\" was not imported"),
        ] {
            let result = try command.tansu(["import", "db", "--sqlite", "old.db"] + words, input: [])
            #expect(result.status == 1 && result.output.hasPrefix("1 document imported into t"), "\(result.error)")
            #expect(result.error.split(separator: "\n").count == faults, "\(result.error)")
            #expect(result.error.contains(text), "\(result.error)")
        }
        let preview = try command.tansu("import", "db", "--sqlite", "old.db", "--dry-run", "--json")
        #expect(try preview.status == 1 && preview.json()["faults"]?.arrayValue?.count == 1)
        try command.succeed("import", "db", "--sqlite", "old.db", "--table", "tansu.x", "--collection", "x")
        #expect(try command.tansu("import", "db", "--sqlite", "old.db", "--table", "v").status == 65)
    }

    @Test("rows whose key has a null are no documents that replace each other, and are rejected with their values")
    func nullKeys() throws {
        let command = try command(
            """
            CREATE TABLE t (a, b, v, PRIMARY KEY (a, b));
            INSERT INTO t VALUES (NULL, 1, 'x'), (NULL, 1, 'y'), (1, 1, 'z');
            """)
        let result = try command.tansu("import", "db", "--sqlite", "old.db", "--rejects", "bad")
        #expect(result.status == 1 && result.error.hasPrefix("t, row 1: The key \"a\" is null\nt, row 2: "))
        let lines = try command.text("bad").split(separator: "\n").filter { !$0.hasPrefix("#tansu ") }
        let rows = try lines.map { try BSONDocument(extendedJSON: String($0)) }
        #expect(rows == [["a": nil, "b": 1, "v": "x"], ["a": nil, "b": 1, "v": "y"]])
    }

    @Test("text that is not UTF-8 and values beyond a document's size are rejected rows")
    func invalidRows() throws {
        let command = try command(
            "CREATE TABLE t (x); INSERT INTO t VALUES (1), (CAST(x'41FF' AS TEXT)), (zeroblob(17000000)), (2)")
        let result = try command.tansu("import", "db", "--sqlite", "old.db", "--rejects", "bad.ndjson")
        #expect(result.status == 1 && result.lines[0].hasPrefix("2 documents imported into t"))
        #expect(
            result.error == """
                t, row 2: "x" is not valid UTF-8
                t, row 3: "x" is longer than a document can be

                """)
        #expect(try command.text("bad.ndjson").hasPrefix("#tansu t, row 2: 'x' is not valid UTF-8\n"))
    }

    @Test("a file that is no database is refused with words")
    func otherFiles() throws {
        let command = try Command()
        try command.write("empty", "")
        try command.write("cut", "SQLite format 3\u{0}" + String(repeating: "x", count: 200))
        for file in ["empty", "cut"] {
            let result = try command.tansu("import", "db", "--sqlite", file)
            #expect(result.status == 65 && !command.exists("db"), "\(result.error)")
        }
        try SQLiteFile(command.path("t")).run("CREATE TABLE t (x)")
        let hint = try command.tansu("import", "db", "t")
        #expect(hint.status == 65 && hint.error.contains("--sqlite t"))
        #expect(try command.tansu("import", "db", "--sqlite", "t", "--ejdb", "t").status == 64)
        #expect(try command.tansu("import", "db", "t", "--table", "t").status == 64)
    }
}
