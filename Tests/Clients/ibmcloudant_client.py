"""IBM's official client of CouchDB and Cloudant against a server: documents, bulk requests, attachments, queries, and its
follower of the changes feed.

    COUCHDB_URL=http://127.0.0.1:5984 COUCHDB_USER=admin COUCHDB_PASSWORD=admin python3 -m unittest ibmcloudant_client
"""

import os
import threading
import time
import unittest
import uuid

from ibm_cloud_sdk_core import ApiException
from ibm_cloud_sdk_core.authenticators import BasicAuthenticator
from ibmcloudant import CouchDbSessionAuthenticator
from ibmcloudant.cloudant_v1 import (
    BulkGetQueryDocument,
    CloudantV1,
    Document,
    IndexDefinition,
)
from ibmcloudant.features.changes_follower import ChangesFollower
from ibmcloudant.features.pagination import PagerType, Pagination

USER = os.environ["COUCHDB_USER"]
PASSWORD = os.environ["COUCHDB_PASSWORD"]


def connect(authenticator):
    service = CloudantV1(authenticator=authenticator)
    service.set_service_url(os.environ["COUCHDB_URL"])
    return service


class WithDatabase(unittest.TestCase):
    """A database of its own for each test."""

    def setUp(self):
        self.service = connect(CouchDbSessionAuthenticator(USER, PASSWORD))
        self.db = "cloudant-" + uuid.uuid4().hex
        self.assertTrue(self.service.put_database(db=self.db).get_result()["ok"])
        self.addCleanup(lambda: self.service.delete_database(db=self.db))

    def put(self, doc_id, **fields):
        return self.service.put_document(db=self.db, doc_id=doc_id, document=Document(id=doc_id, **fields)).get_result()

    def fill(self, count):
        documents = [{"_id": f"doc-{n:05}", "number": n, "kind": "even" if n % 2 == 0 else "odd"} for n in range(count)]
        results = self.service.post_bulk_docs(db=self.db, bulk_docs={"docs": documents}).get_result()
        self.assertEqual([row["id"] for row in results], [f"doc-{n:05}" for n in range(count)])
        self.assertTrue(all(row["ok"] for row in results))
        return results


class Sessions(unittest.TestCase):
    def test_cookie_and_basic_authentication(self):
        for authenticator in (CouchDbSessionAuthenticator(USER, PASSWORD), BasicAuthenticator(USER, PASSWORD)):
            session = connect(authenticator).get_session_information().get_result()
            self.assertEqual(session["userCtx"]["name"], USER)
            self.assertIn("_admin", session["userCtx"]["roles"])

    def test_a_wrong_password_is_refused(self):
        with self.assertRaises(ApiException) as failure:
            connect(BasicAuthenticator(USER, PASSWORD + "x")).get_all_dbs()
        self.assertEqual(failure.exception.status_code, 401)

    def test_server(self):
        service = connect(BasicAuthenticator(USER, PASSWORD))
        self.assertEqual(service.get_server_information().get_result()["couchdb"], "Welcome")
        self.assertEqual(service.get_up_information().get_result()["status"], "ok")
        uuids = service.get_uuids(count=5).get_result()["uuids"]
        self.assertEqual(len(set(uuids)), 5)


class Documents(WithDatabase):
    def test_databases(self):
        self.assertIn(self.db, self.service.get_all_dbs().get_result())
        self.assertEqual(self.service.head_database(db=self.db).get_status_code(), 200)
        self.put("a")
        information = self.service.get_database_information(db=self.db).get_result()
        self.assertEqual((information["db_name"], information["doc_count"]), (self.db, 1))
        with self.assertRaises(ApiException) as failure:
            self.service.put_database(db=self.db)
        self.assertEqual(failure.exception.status_code, 412)

    def test_save_read_update_and_delete(self):
        first = self.put("mike", name="mike", tags=["a", {"b": 1.5}], text="naïve ☕")
        document = self.service.get_document(db=self.db, doc_id="mike").get_result()
        self.assertEqual(document["text"], "naïve ☕")
        self.assertEqual(document["tags"], ["a", {"b": 1.5}])
        self.assertEqual(document["_rev"], first["rev"])
        document["age"] = 12
        second = self.service.put_document(db=self.db, doc_id="mike", document=Document.from_dict(document)).get_result()
        self.assertTrue(second["rev"].startswith("2-"))
        with self.assertRaises(ApiException) as conflict:
            self.service.put_document(db=self.db, doc_id="mike", document=Document.from_dict(document))
        self.assertEqual(conflict.exception.status_code, 409)
        deleted = self.service.delete_document(db=self.db, doc_id="mike", rev=second["rev"]).get_result()
        self.assertTrue(deleted["rev"].startswith("3-"))
        with self.assertRaises(ApiException) as missing:
            self.service.get_document(db=self.db, doc_id="mike")
        self.assertEqual(missing.exception.status_code, 404)

    def test_bulk(self):
        results = self.fill(1000)
        self.assertEqual(self.service.get_database_information(db=self.db).get_result()["doc_count"], 1000)
        wanted = [BulkGetQueryDocument(id=row["id"], rev=row["rev"]) for row in results[:20]]
        found = self.service.post_bulk_get(db=self.db, docs=wanted).get_result()["results"]
        self.assertEqual([row["docs"][0]["ok"]["number"] for row in found], list(range(20)))
        rows = self.service.post_all_docs(db=self.db, keys=["doc-00003", "none", "doc-00001"], include_docs=True).get_result()["rows"]
        self.assertEqual(rows[0]["doc"]["number"], 3)
        self.assertEqual(rows[1]["error"], "not_found")

    def test_pages_of_all_documents(self):
        self.fill(250)
        pager = Pagination.new_pagination(self.service, PagerType.POST_ALL_DOCS, db=self.db, limit=40)
        ids = [row.id for page in pager.pages() for row in page]
        self.assertEqual(ids, [f"doc-{n:05}" for n in range(250)])

    def test_attachments(self):
        revision = self.put("photo")["rev"]
        content = bytes(range(256)) * 5000
        saved = self.service.put_attachment(
            db=self.db, doc_id="photo", attachment_name="bytes.bin", attachment=content,
            content_type="application/octet-stream", rev=revision).get_result()
        self.assertTrue(saved["ok"])
        answer = self.service.get_attachment(db=self.db, doc_id="photo", attachment_name="bytes.bin").get_result()
        self.assertEqual(answer.content, content)
        head = self.service.head_attachment(db=self.db, doc_id="photo", attachment_name="bytes.bin")
        # The client has sent it compressed, so that is how it is stored.
        self.assertEqual(head.get_headers()["Content-Encoding"], "gzip")

    def test_local_documents_and_revisions(self):
        self.service.put_local_document(db=self.db, doc_id="checkpoint", document=Document(seq="7"))
        self.assertEqual(self.service.get_local_document(db=self.db, doc_id="checkpoint").get_result()["seq"], "7")
        revision = self.put("a")["rev"]
        unknown = "2-" + "0" * 32
        difference = self.service.post_revs_diff(db=self.db, document_revisions={"a": [revision, unknown]}).get_result()
        self.assertEqual(difference["a"]["missing"], [unknown])


class Queries(WithDatabase):
    def test_index_find_and_explain(self):
        self.fill(500)
        definition = IndexDefinition(fields=[{"number": "asc"}])
        created = self.service.post_index(db=self.db, ddoc="numbers", name="by-number", index=definition, type="json").get_result()
        self.assertEqual(created["result"], "created")
        query = {"selector": {"number": {"$gte": 490}}, "sort": [{"number": "desc"}], "fields": ["_id", "number"]}
        answer = self.service.post_find(db=self.db, **query).get_result()
        self.assertEqual([row["number"] for row in answer["docs"]], list(range(499, 489, -1)))
        plan = self.service.post_explain(db=self.db, **query).get_result()
        self.assertEqual(plan["index"]["name"], "by-number")
        self.assertEqual(len(self.service.get_indexes_information(db=self.db).get_result()["indexes"]), 2)
        self.assertTrue(self.service.delete_index(db=self.db, ddoc="numbers", type="json", index="by-number").get_result()["ok"])

    def test_pages_of_a_query(self):
        self.fill(300)
        pager = Pagination.new_pagination(self.service, PagerType.POST_FIND, db=self.db, selector={"kind": "odd"}, limit=30)
        numbers = [row.number for page in pager.pages() for row in page]
        self.assertEqual(sorted(numbers), list(range(1, 300, 2)))


class Changes(WithDatabase):
    def test_finite_feed(self):
        self.fill(1234)
        items = list(ChangesFollower(self.service, db=self.db, include_docs=True).start_one_off())
        self.assertEqual(sorted(item.id for item in items), [f"doc-{n:05}" for n in range(1234)])
        self.assertEqual(len({item.seq for item in items}), 1234)
        last = items[-1].seq
        self.put("later")
        self.assertEqual([item.id for item in ChangesFollower(self.service, db=self.db, since=last).start_one_off()], ["later"])

    def test_continuous_feed_sees_what_is_saved_later(self):
        self.fill(10)
        follower = ChangesFollower(self.service, db=self.db, since="0")
        seen = []
        done = threading.Event()

        def follow():
            for item in follower.start():
                seen.append(item.id)
                if item.id == "last":
                    follower.stop()
            done.set()

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        time.sleep(0.5)
        for number in range(5):
            self.put(f"live-{number}")
        self.put("last")
        self.assertTrue(done.wait(60), f"the feed ended with {seen[-3:]}")
        self.assertEqual(set(seen), {f"doc-{n:05}" for n in range(10)} | {f"live-{n}" for n in range(5)} | {"last"})


if __name__ == "__main__":
    unittest.main()
