"""What `/projects` sends to the bridge and takes from it, where the folder holds what it should not."""

import os
import tempfile
import unittest
from base64 import b64encode
from unittest import mock

from sandbridge_kernel.run import projects


class Bridge:
    """The bridge's side: a store of texts, and of folders as None."""

    def __init__(self):
        self.store = {}

    def call_sync(self, method, params):
        return {"value": getattr(self, method)(**params)}

    def projects(self):
        return [
            {"path": path, "folder": True} if text is None else {"path": path, "stamp": text}
            for path, text in sorted(self.store.items())
        ]

    def read_projects(self, paths):
        texts = {path: self.store[path].encode() for path in paths}
        return [{"path": path, "data": b64encode(text), "sizeBytes": len(text)} for path, text in texts.items()]

    def keep_projects(self, files, folders, removed):
        for path in removed:
            self.store.pop(path, None)
        texts = {file["path"]: file["data"] for file in files} | dict.fromkeys(folders)
        self.store |= texts
        return {"kept": {path: text or "folder" for path, text in texts.items()}, "refused": {}}


class Projects(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        patch = mock.patch.object(projects, "FOLDER", folder.name)
        patch.start()
        self.addCleanup(patch.stop)
        self.bridge = Bridge()
        self.kept = projects.Projects(self.bridge, mock.Mock())

    def path(self, name):
        return os.path.join(projects.FOLDER, name)

    def write(self, name, text=""):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def test_files_beyond_what_is_looked_at_take_no_earlier_ones_with_them(self):
        self.write("a/first", "precious")
        self.assertIsNone(self.kept.hand_over(False))
        with mock.patch.object(projects, "_MAX_SEEN", 3):
            for count in range(5):
                self.write(f"z/{count}")
            self.kept.hand_over(False)
            self.assertIn("a/first", self.bridge.store)
            self.write("a/first", "changed")
            self.kept.hand_over(False)
            # Control: what is not here is removed.
            os.remove(self.path("a/first"))
            self.kept.hand_over(False)
        self.assertNotIn("a/first", self.bridge.store)

    def test_files_in_a_folder_that_cannot_be_read_are_not_removed(self):
        self.write("a/first", "precious")
        self.kept.hand_over(False)
        listed = os.listdir

        def refusing(path):
            if path == self.path("a"):
                raise PermissionError(13, "Permission denied", path)
            return listed(path)

        with mock.patch.object(os, "listdir", refusing), mock.patch.object(os, "lstat", side_effect=PermissionError):
            self.kept.hand_over(False)
        self.assertIn("a/first", self.bridge.store)

    def test_a_file_that_took_the_place_of_a_folder_arrives(self):
        self.write("notes/a", "x")
        self.kept.hand_over(False)
        self.bridge.store = {"notes": "a file now", "z": "new"}
        self.assertIsNone(self.kept.bring("2"))
        self.assertEqual([self.read("notes"), self.read("z")], ["a file now", "new"])

    def test_a_file_that_cannot_be_written_keeps_no_other_from_arriving_and_is_tried_again(self):
        self.write("notes/own")  # not sent yet, so the folder stays
        self.bridge.store = {"notes": "a file now", "z": "new"}
        self.assertRegex(self.kept.bring("2"), r"^Not brought in: .*/notes: .*directory")
        self.assertEqual(self.read("z"), "new")
        os.remove(self.path("notes/own"))
        self.assertIsNone(self.kept.bring("2"))
        self.assertEqual(self.read("notes"), "a file now")


    def test_half_of_a_file_for_which_there_was_no_room_is_not_sent_back(self):
        self.write("a", "old")
        self.kept.hand_over(False)
        self.bridge.store["a"] = "new"
        with mock.patch.object(projects, "a2b_base64", side_effect=OSError(28, "No space left on device")):
            self.assertRegex(self.kept.bring("2"), "No space left")
            self.kept.hand_over(False)
        self.assertEqual(self.bridge.store, {"a": "new"})
        self.assertIsNone(self.kept.bring("2"))
        self.assertEqual(self.read("a"), "new")


if __name__ == "__main__":
    unittest.main()
