import fc from "fast-check";
import { expect, test } from "vitest";
import { globReach } from "#rules/compile/aimed-glob";
import { compilePath } from "#rules/compile/compile-path";
import { pathForm, rawForm } from "#rules/compile/path-form";
import { place } from "../rule-fixture.ts";

function compiled(pattern: string) {
  return compilePath({ name: "r", protection: "zero", pattern, place: "f:1" }, place);
}

function covers(pattern: string, path: string): boolean {
  return compiled(pattern).some((each) => each.covers(rawForm(path, place)));
}

const rows: readonly (readonly [pattern: string, covered: readonly string[], not: readonly string[]])[] = [
  [
    ".env",
    [".env", "src/.env", "/ws/.env", ".ENV", "./a/../.env", ".env/x", ".e\u200bnv"],
    ["src/environment.ts", "process.env", ".env.local"],
  ],
  [".env.*", [".env.local", "a/.env.production"], [".env", ".env.example", ".env.sample"]],
  [".env.example", [".env.example"], [".env"]],
  ["*.pem", ["key.pem", "certs/a.PEM", "/tmp/x.pem"], ["pem", "pem.ts"]],
  ["dist/", ["dist", "dist/app.js", "packages/a/dist/x"], ["distance", "src/dist.ts"]],
  [
    "~/.ssh/",
    ["~/.ssh", "~/.ssh/id_rsa", "$HOME/.ssh/config", "${HOME}/.ssh/x", "/home/dev/.ssh/x", "/home/dev/x/../.ssh"],
    ["/home/other/.ssh", ".ssh"],
  ],
  ["/etc/", ["/etc", "/etc/passwd", "/ws/../etc/hosts"], ["etc/x", "/etcetera"]],
  ["scripts/deploy.sh", ["scripts/deploy.sh", "a/scripts/deploy.sh"], ["deploy.sh", "scripts/deploy.sh.bak"]],
  ["./build", ["build", "build/x"], ["a/build"]],
  ["**/secrets/*", ["secrets/x", "a/b/secrets/x/y"], ["secrets"]],
  ["LICENSE*", ["LICENSE", "LICENSE.txt", "license"], ["docs/mylicense"]],
  ["config\\prod", ["config/prod", "config/prod/x"], ["config"]],
  ["caf\u00e9.ts", ["cafe\u0301.ts", "CAF\u00c9.ts"], ["cafe.ts"]],
  ["README.md", ["README.md ", "README.md.", "readme.MD", "README.md::$DATA"], ["README.mdx"]],
  ["*.{key,p12}", ["a.key", "b/c.p12"], ["a.pub"]],
];

test.each(rows)("%s", (pattern, covered, not) => {
  expect(covered.filter((path) => !covers(pattern, path))).toEqual([]);
  expect(not.filter((path) => covers(pattern, path))).toEqual([]);
});

test("a rule without a slash is not about directories above the workspace", () => {
  const [rule] = compilePath(
    { name: "r", protection: "readOnly", pattern: "build/", place: "f:1" },
    { root: "/build/ws", homes: ["/h"] },
  );
  expect(rule?.covers(pathForm("/build/ws/src/a.ts", "/build/ws"))).toBe(false);
  expect(rule?.covers(pathForm("/build/ws/build/a.ts", "/build/ws"))).toBe(true);
});

test("whatever is covered, everything below it is", () => {
  const component = fc.constantFrom("a", "b", ".env", "x.pem", "dist");
  fc.assert(
    fc.property(
      fc.constantFrom(...rows.map(([pattern]) => pattern)),
      fc.array(component, { minLength: 1, maxLength: 4 }),
      component,
      (pattern, parts, more) => {
        const path = parts.join("/");
        if (covers(pattern, path)) expect(covers(pattern, `${path}/${more}`)).toBe(true);
      },
    ),
  );
});

const globs: readonly (readonly [glob: string, pattern: string, reach: string | undefined])[] = [
  ["**/.env", ".env", "aimed"],
  [".e*", ".env", "aimed"],
  ["{a,.env}", ".env", "aimed"],
  ["*.env", ".env", "aimed"],
  ["?env", ".env", "aimed"],
  ["[.]env", ".env", "aimed"],
  ["**/*", ".env", "broad"],
  ["*.ts", ".env", undefined],
  ["*.pem", "*.pem", "aimed"],
  ["*.p*", "*.pem", "aimed"],
  ["server.pem", "*.pem", "aimed"],
  ["*.json", "serviceAccountKey.json", "broad"],
  ["service*.json", "serviceAccountKey.json", "aimed"],
  ["secrets/**", "secrets/", "aimed"],
];
test.each(globs)("globs that aim: %s against %s", (glob, pattern, reach) => {
  const [rule] = compiled(pattern);
  expect(rule && globReach(glob, rule, { dot: true })).toBe(reach);
});
