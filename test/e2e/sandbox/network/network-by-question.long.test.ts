import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestOutside } from "@gennai/testkit/test-outside";
import { expect, test } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { networked } from "./networked.ts";

const canary = "canary-4711-0815";

test("npm installs from a registry, by one yes", async () => {
  using outside = new TestOutside();
  const tarball = packed("lefty");
  const asked = await outside.pages("registry.example", 80, ({ url }) => {
    if (url?.endsWith(".tgz") === true) return { body: tarball };
    if (url !== "/lefty") return { status: 404, body: "{}" };
    const dist = {
      tarball: "http://registry.example/lefty/-/lefty-1.0.0.tgz",
      integrity: `sha512-${hash("sha512", tarball, "base64")}`,
    };
    const version = { name: "lefty", version: "1.0.0", dist, hasInstallScript: true };
    const body = JSON.stringify({ name: "lefty", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } });
    return { headers: { "content-type": "application/json" }, body };
  });
  await using server = await networked(
    outside,
    ["npm install lefty", "node -p 'require(\"lefty\")'", "ls node_modules/lefty"],
    {
      "package.json": `{ "name": "app", "scripts": { "preinstall": "curl http://registry.example/${canary}; true" } }\n`,
      ".npmrc": "registry=http://registry.example/\naudit=false\nfund=false\n",
    },
  );
  await using session = await AskedSession.start(server);
  const { questions, output } = await session.turn("session", "once");
  expect(questions[0]?.title, output).toBe("Let npm install reach registry.example:80?");
  expect(output).toContain("exit code 0");
  expect(asked.some((line) => line.endsWith(".tgz"))).toBe(true);
  expect((await session.turn()).output).toContain("left!");
  // What the package runs, it runs without the network that it was fetched from.
  expect((await session.turn()).output).toContain("scripts-ran");
  expect(asked.filter((line) => line.includes(canary))).toEqual([]);
  expect(JSON.parse(await server.workspace.read("package.json"))).toMatchObject({ dependencies: { lefty: "^1.0.0" } });
});

test("git clones over http, by one yes", async () => {
  using outside = new TestOutside();
  const bare = servedRepository();
  await outside.pages("git.example", 80, ({ url = "" }) => {
    const file = join(bare, (url.split("?")[0] ?? "").replace(/^\/r\.git/, ""));
    return existsSync(file) ? { body: readFileSync(file) } : { status: 404 };
  });
  await using server = await networked(outside, ["git clone -q http://git.example/r.git there && cat there/readme"]);
  await using session = await AskedSession.start(server);
  const { questions: asked, output } = await session.turn("once", "no");
  expect(asked[0]?.title).toContain("reach git.example:80?");
  expect(output).toContain("hello from git");
});

function packed(name: string): Buffer {
  const directory = mkdtempSync(join(tmpdir(), "gennai-packed-"));
  mkdirSync(join(directory, "package"));
  const scripts = { postinstall: `touch scripts-ran; curl -sS -m 20 http://registry.example/${canary}; true` };
  writeFileSync(join(directory, "package", "package.json"), JSON.stringify({ name, version: "1.0.0", scripts }));
  writeFileSync(join(directory, "package", "index.js"), `module.exports = "left!";\n`);
  execFileSync("tar", ["czf", "p.tgz", "package"], { cwd: directory });
  return readFileSync(join(directory, "p.tgz"));
}

/** For git's plain protocol over http. */
function servedRepository(): string {
  const directory = mkdtempSync(join(tmpdir(), "gennai-served-"));
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], { cwd: directory });
  git("init", "-q", "-b", "main", "work");
  writeFileSync(join(directory, "work", "readme"), "hello from git\n");
  git("-C", "work", "add", "readme");
  git("-C", "work", "commit", "-qm", "first");
  git("clone", "-q", "--bare", "work", "r.git");
  git("-C", "r.git", "update-server-info");
  return join(directory, "r.git");
}
