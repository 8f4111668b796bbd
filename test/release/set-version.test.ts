import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { setVersion } from "../../release/set-version.ts";

const checkout = mkdtempSync(join(tmpdir(), "gennai-version-"));
afterAll(() => {
  rmSync(checkout, { recursive: true, force: true });
});

const before = {
  "package.json": '{"name": "all", "version": "0.1.0"}',
  "packages/cli/package.json": '{"version": "0.1.0", "dependencies": {"other": "0.1.0"}}',
  "packages/vscode/package.json": '{"version": "0.1.0"}',
  "packages/cli/src/terminal/version.ts": 'export const version = "0.1.0";\n',
  "packages/store/src/trace.ts": 'const version = "0.1.0";\n',
  "README.md":
    "Gennai 0.1.0 is listening. gennai-0.1.0.tgz, not 10.1.0 and not 0.1.0.4.\nAn Agent Trace 0.1.0 record.\n",
  "docs/guide.md": '{"ok":true,"version":"0.1.0"}\n',
  "docs/decisions/2026-01-01-choice.md": "0.1.0 was published.\n",
};

beforeEach(() => {
  rmSync(checkout, { recursive: true, force: true });
  for (const [name, text] of Object.entries(before)) {
    mkdirSync(dirname(join(checkout, name)), { recursive: true });
    writeFileSync(join(checkout, name), text);
  }
  execFileSync("git", ["init", "--quiet"], { cwd: checkout });
  execFileSync("git", ["add", "--all"], { cwd: checkout });
});

describe("another version", () => {
  it("stands in manifests, the program and its pages, and in nothing else", () => {
    const changed = setVersion(checkout, "0.2.0");
    const after = Object.fromEntries(
      Object.keys(before).map((name) => [name, readFileSync(join(checkout, name), "utf8")]),
    );
    expect(after).toEqual({
      ...before,
      "package.json": '{"name": "all", "version": "0.2.0"}',
      "packages/cli/package.json": '{"version": "0.2.0", "dependencies": {"other": "0.1.0"}}',
      "packages/vscode/package.json": '{"version": "0.2.0"}',
      "packages/cli/src/terminal/version.ts": 'export const version = "0.2.0";\n',
      "README.md":
        "Gennai 0.2.0 is listening. gennai-0.2.0.tgz, not 10.1.0 and not 0.1.0.4.\nAn Agent Trace 0.1.0 record.\n",
      "docs/guide.md": '{"ok":true,"version":"0.2.0"}\n',
    });
    expect(changed).toEqual([
      "README.md",
      "docs/guide.md",
      "package.json",
      "packages/cli/package.json",
      "packages/cli/src/terminal/version.ts",
      "packages/vscode/package.json",
    ]);
  });

  it.each([
    ["no version", "next", /A version is like 1\.2\.3/],
    ["the one that stands there", "0.1.0", /0\.1\.0 already/],
  ])("is refused: %s", (_why, next, message) => {
    expect(() => setVersion(checkout, next)).toThrow(message);
  });
});
