import fc from "fast-check";
import { expect, test } from "vitest";
import { gitUse, pushedRefs } from "#keys/requests/git-requests";
import type { LoginRequest } from "#network/added-login";

const none = "0".repeat(40);
const one = "1".repeat(40);
const two = "2".repeat(40);
const line = (text: string): string => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;
const push = (...lines: readonly string[]): string => `${lines.map(line).join("")}0000`;
const abilities = "\0 report-status-v2 side-band-64k object-format=sha1 agent=git/2.39.5";

const pushes: readonly (readonly [name: string, body: string, meaning: unknown])[] = [
  ["a new branch", push(`${none} ${one} refs/heads/work${abilities}`), `push ${one} to refs/heads/work (new)`],
  [
    "a branch that is there",
    push(`${two} ${one} refs/heads/work${abilities}\n`),
    `push ${one} to refs/heads/work (now ${two})`,
  ],
  ["one that goes", push(`${two} ${none} refs/heads/work${abilities}`), `delete refs/heads/work (now ${two})`],
  [
    "two refs, of a shallow repository",
    push(`shallow ${two}`, `${none} ${one} refs/heads/a${abilities}`, `${none} ${two} refs/tags/v1`),
    `push ${one} to refs/heads/a (new), push ${two} to refs/tags/v1 (new) (from a clone whose history ends at 1 commit)`,
  ],
  [
    "ids of SHA-256",
    push(`${"0".repeat(64)} ${"a".repeat(64)} refs/heads/a\0`),
    `push ${"a".repeat(64)} to refs/heads/a (new)`,
  ],
  ["push options", push(`${none} ${one} refs/heads/a${abilities} push-options`), "refused"],
  ["push options behind a tab", push(`${none} ${one} refs/heads/a\0report-status\tpush-options`), "refused"],
  ["an ability that nobody knows", push(`${none} ${one} refs/heads/a\0report-status evil`), "refused"],
  [
    "a text in the place of a version",
    push(`${none} ${one} refs/heads/a\0report-status agent=${"x".repeat(99)}`),
    "refused",
  ],
  ["a text as the name of a session", push(`${none} ${one} refs/heads/a\0session-id=${"x".repeat(99)}`), "refused"],
  ["a signed push", push(`push-cert${abilities}`, `certificate version 0.1`), "refused"],
  ["the same ref twice", push(`${none} ${one} refs/heads/a${abilities}`, `${none} ${two} refs/heads/a`), "refused"],
  [
    "more refs than a person reads",
    push(...Array.from({ length: 21 }, (_, at) => `${none} ${one} refs/heads/a${at}`)),
    "refused",
  ],
  ["a name that is none", push(`${none} ${one} refs/heads/a b${abilities}`), "refused"],
  ["a name with a way up", push(`${none} ${one} refs/heads/../x${abilities}`), "refused"],
  ["a name with a control character", push(`${none} ${one} refs/heads/a\u001b[2J${abilities}`), "refused"],
  ["no name of a ref", push(`${none} ${one} HEAD${abilities}`), "refused"],
  ["ids of two lengths", push(`${none} ${"a".repeat(64)} refs/heads/a${abilities}`), "refused"],
  ["no line at all, and a pack", "0000PACK", "refused"],
  ["a length of three", "0003", "refused"],
  ["a delimiter", "0001", "refused"],
  ["no length", "zzzz", "refused"],
];

test.each(pushes)("of a push is told: %s", (_name, body, expected) => {
  const meaning = pushedRefs(Buffer.from(`${body}PACK and more`, "latin1"), false);
  const told = meaning?.type === "writes" ? meaning.what : meaning?.type;
  expect(told).toBe(expected);
});

test("git's look whether it may push is no push; less than a list of refs is nothing yet", () => {
  expect(pushedRefs(Buffer.from("0000"), true)).toEqual({ type: "reads" });
  expect(pushedRefs(Buffer.from("0000"), false)).toBeUndefined();
  const whole = push(`${none} ${one} refs/heads/work${abilities}`);
  for (let end = 0; end < whole.length; end += 1) {
    expect(pushedRefs(Buffer.from(whole.slice(0, end), "latin1"), false)).toBeUndefined();
  }
});

test("property: what is told are exactly the refs; bytes of any kind never pass for a push without them", () => {
  const id = fc.stringMatching(/^[0-9a-f]{40}$/);
  const name = fc.stringMatching(/^refs\/heads\/[a-z0-9]{1,20}$/);
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(id, id, name), { minLength: 1, maxLength: 20, selector: ([, , ref]) => ref }),
      fc.uint8Array(),
      (refs, rest) => {
        const lines = refs.map(([from, to, ref], at) => `${from} ${to} ${ref}${at === 0 ? abilities : ""}`);
        const meaning = pushedRefs(Buffer.concat([Buffer.from(push(...lines)), rest]), false);
        const told = meaning?.type === "writes" ? meaning.what.split(", ") : [];
        expect(told.map((each) => /refs\/\S+/.exec(each)?.[0])).toEqual(refs.map(([, , ref]) => ref));
        for (const [at, [from, to]] of refs.entries()) {
          if (to !== none) expect(told[at]).toContain(to);
          if (from !== none) expect(told[at]).toContain(from);
        }
      },
    ),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      const meaning = pushedRefs(Buffer.from(bytes), true);
      if (Buffer.from(bytes).toString("latin1") !== "0000") expect(meaning?.type).not.toBe("reads");
    }),
  );
});

const request = (what: string, headers: LoginRequest["headers"] = {}): LoginRequest => {
  const [method = "", address = ""] = what.split(" ");
  const [path = "", query] = address.split("?");
  return { method, path, query: query === undefined ? "" : `?${query}`, headers };
};
const type = (service: string) => ({ "content-type": `application/x-git-${service}-pack-request` });

const requests: readonly (readonly [
  what: string,
  headers: LoginRequest["headers"],
  use: "reads" | "body" | undefined,
])[] = [
  ["GET /me/r.git/info/refs?service=git-upload-pack", {}, "reads"],
  ["GET /me/r.git/info/refs?service=git-receive-pack", {}, "reads"],
  ["POST /me/r.git/git-upload-pack", { ...type("upload"), "content-encoding": "gzip" }, "body"],
  ["POST /me/r.git/git-receive-pack", type("receive"), "body"],
  ["POST /me/r.git/git-receive-pack", { ...type("receive"), "content-encoding": "gzip" }, undefined],
  ["POST /me/r.git/git-receive-pack", type("upload"), undefined],
  ["POST /me/r.git/git-receive-pack?x=1", type("receive"), undefined],
  ["GET /me/r.git/info/refs", {}, undefined],
  ["GET /me/r.git/info/refs?service=git-upload-pack&x=1", {}, undefined],
  ["GET /me/r.git/HEAD", {}, undefined],
  ["POST /me/r.git/info/lfs/objects/batch", {}, undefined],
  ["GET /me/other.git/info/refs?service=git-upload-pack", {}, undefined],
  ["GET /me/r.git.git/info/refs?service=git-upload-pack", {}, undefined],
  ["GET /api/v4/user", {}, undefined],
];

test.each(requests)("git and the login: %s %o is %s", (what, headers, expected) => {
  const use = gitUse(["/me/r.git/"], "Basic x", request(what, headers));
  expect(use === undefined ? undefined : use.body === undefined ? "reads" : "body").toBe(expected);
});
