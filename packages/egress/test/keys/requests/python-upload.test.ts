import { hash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readForm, writtenForm } from "#keys/requests/form-data";
import { pythonUpload, uploadedFile } from "#keys/requests/python-upload";

const boundary = "a1b2c3";
const archive = Buffer.from("\0an archive\r\n--");
const field = (name: string, content: string) => ({ name, content: Buffer.from(content) });
const fields = [
  field(":action", "file_upload"),
  field("protocol_version", "1"),
  field("name", "My.Thing"),
  field("version", "1.0"),
  field("description", "many\nlines"),
  field("classifiers", "A"),
  field("classifiers", "B"),
  field("requires_dist", "requests>=2"),
  field("requires_dist", "attrs"),
];
const file = { name: "content", file: "my_thing-1.0-py3-none-any.whl", content: archive };
const [md5, sha256] = [hash("md5", archive), hash("sha256", archive)];
const sent = [...fields, file, field("md5_digest", md5), field("sha256_digest", sha256)];

test("a file is told with its name, version, hash and needs, and hashes are its own", () => {
  const given = [...fields, field("md5_digest", "wrong"), field("blake2_256_digest", "wrong"), file];
  expect(uploadedFile(writtenForm(given, boundary), boundary)).toEqual({
    type: "writes",
    what: `upload My.Thing 1.0 (my_thing-1.0-py3-none-any.whl, sha256 ${sha256}, needs requests>=2, attrs)`,
    body: writtenForm(sent, boundary),
    pretends: true,
  });
});

const without = (name: string) => fields.filter((one) => one.name !== name);

test.each<[name: string, parts: Parameters<typeof writtenForm>[0]]>([
  ["no file", fields],
  ["two files", [...fields, file, { ...file, file: "my_thing-1.0.tar.gz" }]],
  ["a signature beside it", [...fields, file, { ...file, name: "gpg_signature", file: "x.asc" }]],
  ["a file of another package", [...fields, { ...file, file: "other-1.0.tar.gz" }]],
  ["a file of another version", [...fields, { ...file, file: "my_thing-1.1.tar.gz" }]],
  ["a file of no release", [...fields, { ...file, file: "my_thing-1.0.exe" }]],
  ["two names", [...fields, field("name", "other"), file]],
  ["two versions", [...fields, field("version", "2.0"), file]],
  ["no version", [...without("version"), file]],
  ["another action", [...without(":action"), field(":action", "remove_pkg"), file]],
  ["a field that nobody knows", [...fields, field("owner", "me"), file]],
  ["a need that hides what follows", [...fields, field("requires_dist", "a\u001b[8m"), file]],
])("refused: %s", (_name, parts) => {
  expect(uploadedFile(writtenForm(parts, boundary), boundary)).toMatchObject({ type: "refused" });
});

const whole = writtenForm(sent, boundary).toString("latin1");

test.each<[name: string, body: string]>([
  ["a preamble", `x\r\n${whole}`],
  ["an epilogue", `${whole}--a1b2c3--\r\n`],
  ["no end", whole.slice(0, -4)],
  ["lines that end as on Unix", whole.replaceAll("\r\n", "\n")],
  [
    "a header that nobody knows",
    whole.replace("\r\n\r\nfile_upload", "\r\nContent-Transfer-Encoding: base64\r\n\r\nfile_upload"),
  ],
  ["a name that stands twice", whole.replace('name="version"', 'name="version"; name="name"')],
  ["a name in other letters", whole.replace('name="version"', "name*=utf-8''version")],
  ["a file below a directory", whole.replace("my_thing-1.0-py3", "../my_thing-1.0-py3")],
  ["a delimiter with more behind it", whole.replace("\r\n--a1b2c3\r\n", "\r\n--a1b2c3x\r\n")],
])("no form that all read alike: %s", (_name, body) => {
  expect(readForm(Buffer.from(body, "latin1"), boundary)).toBeUndefined();
});

test("only a form with a plain boundary is read", () => {
  const reader = (type: string) => pythonUpload({ headers: { "content-type": type } });
  expect(reader(`multipart/form-data; boundary=${boundary}`)).toBeDefined();
  for (const type of [
    "application/json",
    "multipart/form-data",
    "multipart/form-data; boundary=a; boundary=b",
    "multipart/mixed; boundary=a",
  ]) {
    expect(reader(type), type).toBeUndefined();
  }
});

test("property: what is written is read again as the same", () => {
  const part = fc.record({
    name: fc.stringMatching(/^[a-z:_]{1,9}$/),
    content: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  });
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
      expect(readForm(writtenForm(parts, "------x9f"), "------x9f")).toEqual(parts);
    }),
  );
});
