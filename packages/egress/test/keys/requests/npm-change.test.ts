import { expect, test } from "vitest";
import { npmChange } from "#keys/requests/npm-change";
import type { RequestMeaning } from "#network/added-login";

const registry = new URL("https://registry.example/npm/");
const there = {
  _id: "@me/thing",
  _rev: "2-b",
  name: "@me/thing",
  "dist-tags": { latest: "1.1.0" },
  maintainers: [{ name: "me", email: "me@x.example" }],
  versions: { "1.0.0": { name: "@me/thing", version: "1.0.0" }, "1.1.0": { name: "@me/thing", version: "1.1.0" } },
};
const { "1.1.0": kept } = there.versions;

function meaning(method: string, path: string, body: unknown, now: unknown = there): RequestMeaning | undefined {
  const reader = npmChange(method, path, registry);
  const bytes = Buffer.from(body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body));
  const read = reader?.read(bytes, true);
  return read?.type === "compares" ? read.read(now === null ? undefined : Buffer.from(JSON.stringify(now))) : read;
}

test.each<[method: string, path: string, body: unknown, what: string]>([
  ["PUT", "-/package/@me%2fthing/dist-tags/beta", '"1.0.0"', "set the tag beta of @me/thing to 1.0.0"],
  ["DELETE", "-/package/@me%2fthing/dist-tags/beta", undefined, "remove the tag beta of @me/thing"],
  [
    "PUT",
    "@me%2fthing",
    { ...there, versions: { ...there.versions, "1.0.0": { ...there.versions["1.0.0"], deprecated: "old" } } },
    'change @me/thing: set versions."1.0.0".deprecated to "old"',
  ],
  [
    "PUT",
    "@me%2fthing/-rev/2-b",
    { ...there, versions: { "1.1.0": kept } },
    'change @me/thing: remove versions."1.0.0"',
  ],
  [
    "PUT",
    "@me%2fthing/-rev/2-b",
    { ...there, "dist-tags": { latest: "1.1.0", next: "1.0.0" }, readme: "x" },
    'change @me/thing: set "dist-tags".next to "1.0.0"; set readme to "x"',
  ],
  [
    "PUT",
    "@me%2fthing/-rev/2-b",
    { _id: "@me/thing", _rev: "2-b", maintainers: [{ name: "you", email: "you@x.example" }] },
    "change @me/thing: add you <you@x.example> as owner; remove me <me@x.example> as owner",
  ],
  ["DELETE", "@me%2fthing/-rev/2-b", undefined, "unpublish all of @me/thing"],
  ["DELETE", "@me%2fthing/-/thing-1.0.0.tgz/-rev/2-b", undefined, "remove the archive thing-1.0.0.tgz of @me/thing"],
])("%s %s: what of the package is another then", (method, path, body, what) => {
  expect(meaning(method, path, body)).toMatchObject({ type: "writes", what });
});

test("owners are all named where it is not known who they are", () => {
  const maintainers = [{ name: "you", email: "you@x.example" }];
  const what = "change thing: set the maintainers to you <you@x.example>";
  const body = { _id: "thing", _rev: "1", maintainers };
  expect(meaning("PUT", "thing/-rev/1", body, null)).toMatchObject({ type: "writes", what });
});

test("the document beside it is that of the package, as npm asks for it to write", () => {
  const read = npmChange("PUT", "@me%2fthing/-rev/2-b", registry)?.read(Buffer.from("{}"), true);
  expect(read).toMatchObject({ type: "compares", path: "/npm/@me%2fthing?write=true" });
});

test("a name that stands twice is sent once", () => {
  const twice = JSON.stringify({ ...there, readme: "x" }).replace('"readme"', '"readme":"hidden","readme"');
  expect(meaning("PUT", "@me%2fthing", twice)).toEqual({
    type: "writes",
    what: 'change @me/thing: set readme to "x"',
    body: Buffer.from(JSON.stringify({ ...there, readme: "x" })),
  });
});

test.each<[name: string, method: string, path: string, body: unknown, now?: unknown]>([
  ["a tag for no version", "PUT", "-/package/thing/dist-tags/beta", '{"version":"1.0.0"}'],
  ["something behind a removal", "DELETE", "-/package/thing/dist-tags/beta", "{}"],
  ["the description of another package", "PUT", "other", there],
  ["a description where nothing was read", "PUT", "@me%2fthing", there, null],
  ["owners of another package", "PUT", "other/-rev/1", { _id: "@me/thing", _rev: "1", maintainers: [] }],
  [
    "more than a person reads",
    "PUT",
    "@me%2fthing",
    { ...there, ...Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`x${at}`, at])) },
  ],
  ["no JSON", "PUT", "@me%2fthing", "{"],
])("refused: %s", (_name, method, path, body, now = there) => {
  expect(meaning(method, path, body, now)).toMatchObject({ type: "refused" });
});

test.each([
  ["PUT", "-/npm/v1/tokens"],
  ["POST", "thing"],
  ["DELETE", "thing"],
  ["PUT", "-/package/thing/access"],
  ["PUT", "-/user/org.couchdb.user:me"],
  ["PUT", "-/team/me/dev"],
])("not known: %s %s", (method, path) => {
  expect(npmChange(method, path, registry)).toBeUndefined();
});
