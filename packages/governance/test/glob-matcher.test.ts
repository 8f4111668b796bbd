import fc from "fast-check";
import picomatch from "picomatch";
import { expect, test } from "vitest";
import { globMatcher } from "#glob-matcher";

test.for([
  ["*", ["a", ".a"], ["", "a/b", "a/"]],
  ["a/*", ["a/b"], ["a", "a/", "a/b/c"]],
  ["a/**", ["a", "a/", "a/b", "a/b/.c"], ["ab", "b/a"]],
  ["**", ["a", "a/b/c"], [""]],
  ["**/a", ["a", "b/a", "b/c/a"], ["ba", "b/ba"]],
  ["a/**/b", ["a/b", "a/c/b", "a/c/d/b"], ["ab", "a/cb"]],
  ["a**b", ["ab", "acb"], ["a/b"]],
  ["{src/**,docs}/*.md", ["src/a.md", "src/b/a.md", "docs/a.md"], ["docs/b/a.md"]],
  ["{a,b{c,d}}{,x}", ["a", "ax", "bc", "bdx"], ["b", "bx"]],
  ["v{9..11}", ["v9", "v10", "v11"], ["v1", "v12"]],
  ["{c..a}", ["a", "c"], ["d"]],
  ["{a}{b", ["{a}{b"], ["ab"]],
  ["[a-c][!a-c]", ["ad", "c!"], ["aa", "da", "a/"]],
  ["[]a][[:digit:]]", ["]1", "a2"], ["b1", "aa"]],
  ["[ab", ["[ab"], ["a"]],
  ["\\*\\{a\\}", ["*{a}"], ["x{a}"]],
  ["a?c", ["abc", "a😀c"], ["ac", "a/c"]],
  ["@(a|b)+(c)", ["ac", "bcc"], ["a", "abc"]],
  ["?(a)*(b|c)d", ["d", "ad", "abcbd"], ["aad"]],
  ["x!(a)", ["x", "xb", "xa"], ["y"]],
  ["app/(auth)/*", ["app/(auth)/a"], ["app/auth/a"]],
  ["!a", ["!a"], ["a", "b"]],
] as const)("%j matches %j, and not %j", ([glob, matched, others]) => {
  const match = globMatcher(glob);
  expect({ matched: matched.filter(match), others: others.filter(match) }).toEqual({ matched, others: [] });
});

test.for([
  ["{a,b}", { nobrace: true }, ["a"]],
  ["@(a)", { noextglob: true }, ["a"]],
  ["A", {}, ["a"]],
] as const)("%j with %j leaves %j out", ([glob, options, texts]) => {
  expect(texts.filter(globMatcher(glob, options))).toEqual([]);
  expect(texts.filter(globMatcher(glob, { nocase: true }))).toEqual(texts);
});

test("reads letters of either case, by whatever name, where case does not count", () => {
  const match = globMatcher("[[:upper:]]É", { nocase: true });
  expect(["aé", "AÉ", "1é"].filter(match)).toEqual(["aé", "AÉ"]);
});

test("matches one of several", () => {
  const match = globMatcher(["a/*", "b"]);
  expect(["a/c", "b", "c"].filter(match)).toEqual(["a/c", "b"]);
});

// Of picomatch's own: `*/**` is not what `*` is, though `a/**` is what `a` is, as is `a/**/*`; `*.*` is not what `a.` is.
test("matches what picomatch does, of names, stars, classes and braces", () => {
  const piece = fc.constantFrom(
    "a",
    "b",
    "*",
    "**",
    "?",
    "/",
    "/",
    ".",
    "[ab]",
    "[^a]",
    "{a,b}",
    "{a,*}",
    "**/",
    "/**",
  );
  const glob = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(""));
  const name = fc.string({ unit: fc.constantFrom("a", "b", "c", ".", "x"), minLength: 1, maxLength: 3 });
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  fc.assert(
    fc.property(glob, path, (each, text) => {
      fc.pre(
        !/\/\/|\*{3}|^\/|\/$|(?:^|\/)\.\.?(?:\/|$)|[^/]\*\*|\*\*[^/]|\*\/\*\*|\/\*\*\/[*{]|\*\.\*/.test(
          `${each}\n${text}`.replaceAll("\n", "/x/"),
        ),
      );
      expect(globMatcher(each)(text)).toBe(picomatch(each, { dot: true })(text));
    }),
    { numRuns: 20_000 },
  );
});

test("takes as long for a name that is made for a glob as for others", () => {
  const name = "a".repeat(100_000);
  expect(globMatcher("*a*a*a*a*a*a*a*ab")(name)).toBe(false);
  expect(globMatcher("**/a/**/a/**/a/**/b")("a/".repeat(50_000))).toBe(false);
  expect(globMatcher(`${"+(a|+(".repeat(20)}a${"))".repeat(20)}b`)(name)).toBe(false);
  expect(globMatcher("{a,b}".repeat(1_000))("ab".repeat(500))).toBe(true);
});

test("reads whatever glob there is", () => {
  const special = fc.string({ unit: fc.constantFrom(..."a*?[](){}!@+|,./\\:-"), minLength: 1, maxLength: 30 });
  const characters = fc.string({ unit: "binary", minLength: 3, maxLength: 9 });
  const someClass = characters.map((all) => `[${[...all].join("-")}]`);
  fc.assert(
    fc.property(fc.oneof(special, characters, someClass), (each) => {
      expect(typeof globMatcher(each, { nocase: true })("a/b")).toBe("boolean");
    }),
    { numRuns: 5_000 },
  );
  // In UTF-16 the first comes before the second.
  expect(globMatcher("[\u{1f600}-\ufffd]")("\u{1f600}")).toBe(false);
  for (const opening of ["{", "[", "+(", "{a,", "+(a|", "\\"])
    expect(globMatcher(opening.repeat(20_000))("a")).toBe(false);
});
