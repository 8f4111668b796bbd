import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { unpacked } from "#keys/requests/unpacked";

interface Header {
  readonly name?: string;
  readonly size?: string;
  readonly type?: string;
  readonly link?: string;
  readonly magic?: string;
  readonly prefix?: string;
  readonly sum?: number;
}

function entry(content: string, header: Header = {}): Buffer {
  const { name = "package/a", type = "0", link = "", magic = "ustar\x0000", prefix = "", sum = 0 } = header;
  const block = Buffer.alloc(512 + Math.ceil(content.length / 512) * 512);
  const size = header.size ?? `${content.length.toString(8).padStart(11, "0")}\0`;
  for (const [text, at] of [
    [name, 0],
    [size, 124],
    ["        ", 148],
    [type, 156],
    [link, 157],
    [magic, 257],
    [prefix, 345],
    [content, 512],
  ] as const)
    block.write(text, at, "latin1");
  const counted = block.subarray(0, 512).reduce((all, byte) => all + byte, sum);
  block.write(`${counted.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

const pax = (...records: readonly string[]): Buffer => entry(records.join(""), { type: "x", name: "x" });
/** Its length, of two digits, counts too. */
const record = (text: string): string => `${Buffer.byteLength(text) + 4} ${text}\n`;
const empty = Buffer.alloc(512);
const read = (...parts: readonly Buffer[]) =>
  unpacked(gzipSync(Buffer.concat(parts))).map(({ name, content }) => `${name}=${content.toString()}`);

test("files, directories, and names of every length, as npm, tar and cargo write them", async () => {
  expect(read(entry("one"), entry("", { name: "package/b/", type: "5" }), empty, empty)).toEqual([
    "package/a=one",
    "package/b/=",
  ]);
  expect(read(pax(record("path=package/long"), record("mtime=1.5")), entry("x"))).toEqual(["package/long=x"]);
  expect(read(entry("x", { prefix: "package/far" }))).toEqual(["package/far/package/a=x"]);
  const long = `${"d".repeat(90)}/${"e".repeat(90)}/${"f".repeat(90)}.js`;
  await using files = await temporaryDirectory({ "package.json": '{"name":"x","version":"1.0.0"}', [long]: "long" });
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts"], { cwd: files.root });
  execFileSync("tar", ["--format=pax", "-czf", "x.tgz", "package.json", long], { cwd: files.root });
  const names = (file: string) =>
    unpacked(readFileSync(files.path(file)))
      .map(({ name }) => name)
      .toSorted();
  expect(names("x-1.0.0.tgz")).toEqual([`package/${long}`, "package/package.json"]);
  expect(names("x.tgz")).toEqual([long, "package.json"]);
});

test.each<[name: string, parts: readonly Buffer[]]>([
  ["something behind an empty block", [entry("one"), empty, entry("two")]],
  ["a header that others skip for its checksum", [entry("one", { sum: 1 })]],
  ["one that others skip for its link", [entry("one", { link: "package/b" })]],
  ["a link", [entry("", { type: "2", link: "/etc/passwd" })]],
  ["a directory with something in it, which others read as the next entry", [entry("one", { type: "5" })]],
  ["one by its name", [entry("one", { name: "package/a/" })]],
  ["a size in another form", [entry("one", { size: "\x80\0\0\0\0\0\0\0\0\0\0\x03" })]],
  ["a size beyond the end", [entry("one", { size: "00000002000\0" })]],
  ["another size in a record", [pax(record("size=00")), entry("one")]],
  ["a name twice", [pax(record("path=a/b"), record("path=a/c")), entry("one")]],
  ["records for records", [pax(record("path=a/b")), pax(record("mtime=1.5")), entry("one")]],
  ["a record that ends elsewhere", [pax("30 comment=\n13 path=a/b\n"), entry("one")]],
  ["a record of another kind", [pax(record("GNU.sparse.name=package/b")), entry("one")]],
  ["records for nothing", [entry("one"), pax(record("path=a/b"))]],
  ["a prefix that only some read", [entry("one", { magic: "ustar  \0", prefix: "package" })]],
  ["something behind the end of a name", [entry("one", { name: "package/a\0\nb" })]],
  ["a way up", [entry("one", { name: "package/../a" })]],
  ["a part that goes away", [entry("one", { name: "./package/a" })]],
  ["two slashes", [entry("one", { name: "package//a" })]],
  ["a backslash", [entry("one", { name: "package\\a" })]],
  ["a name from the root", [entry("one", { name: "/package/a" })]],
])("not read: %s", (_name, parts) => {
  expect(() => read(...parts)).toThrow(/^The archive has an unusable/);
});

test("not read: several packed parts, of which some programs read only the first", () => {
  const parts = [entry("one"), entry("two", { name: "package/b" })].map((part) => gzipSync(part));
  expect(() => unpacked(Buffer.concat(parts))).toThrow(/^The archive has an unusable end/);
});
