import fc from "fast-check";
import picomatch from "picomatch";
import { describe, expect, it } from "vitest";
import { scopeOf } from "#intents/scope";
import { scopeGlob } from "#intents/scope-glob";

describe("owned scope", () => {
  it.each<[string, readonly string[], readonly string[], readonly string[]]>([
    ["nothing", [], [], ["a", "src/a.ts", ""]],
    ["only exclusions", ["!src/x"], [], ["src/y", "a"]],
    ["globs", ["src/**"], ["src/a.ts", "src/a/b.ts", "src/.hidden"], ["docs/x", "srcs/a", "SRC/a.ts", "a/src/b"]],
    [
      "a directory without a glob",
      ["src/auth"],
      ["src/auth", "src/auth/a.ts", "src/auth/b/c"],
      ["src/author.ts", "src"],
    ],
    ["a directory with a slash", ["src/auth/"], ["src/auth/a.ts"], ["src/authx"]],
    ["a file", ["src/a.ts"], ["src/a.ts"], ["src/b.ts", "a.ts", "src/a.tsx"]],
    ["the whole workspace", ["."], ["a", "b/c"], []],
    ["everything, with one star", ["*"], ["a", "b/c", ".github/x", "a/b/c"], []],
    ["everything but", ["*", "!src/secret"], ["a", "src/a"], ["src/secret/x"]],
    ["the root's own files", ["/*"], ["a", ".x"], ["b/c"]],
    ["files of the root", ["*.md"], ["a.md"], ["docs/a.md"]],
    ["stars that stay in a directory", ["src/*"], ["src/a.ts"], ["src/a/b.ts"]],
    ["a literal directory below a star", ["packages/*/src"], ["packages/a/src/x.ts"], ["packages/a/b/src/x.ts"]],
    ["a leading dot or slash", ["./src/**", "/docs/**"], ["src/a", "docs/b"], ["x"]],
    ["braces", ["src/{auth,db/**}/*.ts"], ["src/auth/a.ts", "src/db/x/a.ts"], ["src/other/a.ts"]],
    ["classes and question marks", ["v[0-9]/?.ts"], ["v1/a.ts"], ["vx/a.ts", "v1/ab.ts"]],
    [
      "brackets that are names",
      ["app/[id]/(group)/page.tsx"],
      ["app/[id]/(group)/page.tsx", "app/i/(group)/page.tsx"],
      ["app/[id]/group/page.tsx"],
    ],
    ["Windows separators", ["src\\auth\\**"], ["src/auth/a.ts"], ["src/b.ts"]],
    ["an exclusion before", ["!src/secret/**", "src/**"], ["src/a"], ["src/secret/x", "src/secret", "src/SECRET/x"]],
    ["an exclusion after", ["src/**", "!src/secret"], ["src/a"], ["src/secret/x/y"]],
    ["an exclusion without a slash", ["src/**", "!*.snap"], ["src/a.ts"], ["src/deep/a.snap", "src/A.SNAP"]],
    ["an exclusion that cannot be read", ["src/**", "!../x"], [], ["src/a.ts"]],
    ["an inclusion that cannot be read", ["src/**", "../x"], ["src/a.ts"], ["x", "../x"]],
    ["paths that leave", ["src/**"], [], ["src/../docs/x", ".."]],
    ["composed letters", ["src/caf\u00e9/**"], ["src/cafe\u0301/a"], []],
  ])("%s", (_name, entries, owned, foreign) => {
    const scope = scopeOf(entries);
    expect(owned.filter((path) => !scope.owns(path))).toEqual([]);
    expect(foreign.filter((path) => scope.owns(path))).toEqual([]);
  });

  it.each<[readonly string[], string, "all" | "some" | "none"]>([
    [["src/**"], "src", "all"],
    [["src/**"], "", "some"],
    [["src/**"], "docs", "none"],
    [["src/a/**"], "src", "some"],
    [["src/*.ts"], "src", "some"],
    [["src/**", "!src/secret/**"], "src", "some"],
    [["src/**", "!src/secret/**"], "src/other", "all"],
    [["src/**", "!src/secret/**"], "src/secret/x", "none"],
    [["**"], "", "all"],
    [["*"], "", "all"],
    [["*"], "src/a", "all"],
  ])("of %j, what lies below %j is owned: %s", (entries, path, wanted) => {
    expect(scopeOf(entries).ownsBelow(path)).toBe(wanted);
  });

  it.each([
    ...["../x", "src/../../x", "src\\..\\x", "{src,..}/x", "~/x", "C:\\x", "file:///x", "+(a|aa)+(a|aa)b"],
    ...["src/*(a|aa)", "@(a|b)", "!(a|b)", "!!a", "", "!", "a\u202eb"],
    "{a,b}".repeat(7),
    "x".repeat(501),
    "a/".repeat(40),
  ])("refuses %j", (entry) => {
    expect(scopeGlob(entry).ok).toBe(false);
  });

  it("takes no time over hostile names", () => {
    const started = process.cpuUsage();
    const scope = scopeOf(["**/*a*a*b/**/*a*a*b/**", "!**/*a*a*b"]);
    expect(scope.owns(Array.from({ length: 15 }, () => "a".repeat(255)).join("/"))).toBe(false);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(2000);
  });

  it("agrees with picomatch wherever an entry is a plain glob", () => {
    const name = fc.stringMatching(/^[ab.]{1,3}$/).filter((text) => !/^\.+$/.test(text));
    const pattern = fc.oneof(fc.constant("**"), fc.stringMatching(/^[ab?.]{0,2}\*[ab]{0,2}$/), name);
    fc.assert(
      fc.property(
        fc.array(pattern, { minLength: 1, maxLength: 4 }),
        fc.array(name, { minLength: 1, maxLength: 4 }),
        (globs, names) => {
          const glob = [...globs, "*"].join("/");
          const path = names.join("/");
          expect(scopeOf([glob]).owns(path), `${glob} ${path}`).toBe(picomatch(glob, { dot: true })(path));
        },
      ),
    );
  });

  it("never owns what an exclusion names", () => {
    const path = fc
      .array(fc.stringMatching(/^[\w[\]()}+@!,-]{1,6}$/), { minLength: 1, maxLength: 4 })
      .map((names) => names.join("/"));
    fc.assert(
      fc.property(path, (each) => {
        expect(scopeOf(["**", `!${each}`]).owns(each)).toBe(false);
      }),
    );
  });
});
