import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { makeTestCertificates } from "@gennai/testkit/test-certificates";
import { TestOutside } from "@gennai/testkit/test-outside";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { staging } from "../staged/staging.ts";
import { hunt } from "./hunt.ts";
import { keptText } from "./kept-text.ts";
import { crateRegistry } from "./services/crate-registry.ts";

const token = "Bearer npm_correcthorsebattery";
const name = "registry.example";
const address = `https://${name}/`;

beforeEach(() => {
  // Where this machine has cargo by rustup, that finds its own there.
  if (process.env["RUSTUP_HOME"] === undefined) vi.stubEnv("RUSTUP_HOME", `${process.env["HOME"]}/.rustup`);
  // That of rustup may have no toolchain; the system's has its own.
  if (spawnSync("cargo", ["--version"]).status !== 0) vi.stubEnv("PATH", `/usr/bin:${process.env["PATH"]}`);
  for (const variable of ["CARGO_HOME", "CARGO_HTTP_CAINFO", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE"]) {
    vi.stubEnv(variable, undefined);
  }
});
afterEach(() => vi.unstubAllEnvs());

const settings = {
  ".cargo/config.toml": `[registries.corp]\nindex = "sparse+${address}index/"\n`,
  ".cargo/credentials.toml": `[registries.corp]\ntoken = "${token}"\n`,
  ".cargo/registry/CACHEDIR.TAG": "",
};
const crate = {
  "Cargo.toml":
    '[package]\nname = "app"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\ndep = { version = "1", registry = "corp" }\n',
  "src/lib.rs": "pub fn answer() -> u8 { dep::answer() }\n",
  ".gitignore": "target\n",
};

test("cargo reads a private registry by one yes that names the login, builds without it, and the session keeps what came", async () => {
  await using certificates = await makeTestCertificates([`DNS:${name}`]);
  const { cert, key } = await certificates.issue("server");
  const tls = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  using registry = await crateRegistry(token, { address, tls });
  using outside = new TestOutside();
  outside.host(name, 443, registry.server);
  await using home = await temporaryDirectory({ ...settings, "ca/ca.crt": certificates.ca });
  vi.stubEnv("HOME", home.root);
  vi.stubEnv("SSL_CERT_FILE", home.path("ca/ca.crt"));
  await using server = await staging(
    ["cargo build", "cargo build", "rm -r target; cargo build; cat hunted.txt"],
    {
      ...crate,
      // What cargo would ask for a login.
      ".cargo/config.toml": `[registry]\nglobal-credential-providers = ["cargo:token", "./hunt.cjs"]\n`,
      "hunt.cjs": `#!/usr/bin/env node\n${hunt}`,
    },
    {},
    { outside },
  );
  await using session = await AskedSession.start(server);
  const login = `the login of cargo's for the registry corp, which is ${address}index/`;

  const first = await session.turn("no");
  expect(first.questions[0]?.title, first.output).toBe(`Let cargo build reach ${name}:443 with ${login}?`);
  expect(registry.requests).toEqual([]);

  // The other one is about the project's own check, behind a change: of Cargo.lock.
  const second = await session.turn("once");
  expect(
    second.questions.map(({ computed }) => computed?.rule),
    second.output,
  ).toEqual(["keys/use", "project-check/repository-command"]);
  expect(second.output).toMatch(/Compiling dep v1\.0\.0 .*\n.*Compiling app/);
  expect(second.output).toContain(`, with ${login}:`);
  expect(registry.requests).toContain(`GET /api/v1/crates/dep/1.0.0/download ${token}`);
  expect(registry.requests.filter((request) => !request.endsWith(` ${token}`))).toEqual([]);
  expect(existsSync(home.path(".cargo/registry/cache"))).toBe(false);

  // It is in the cache of the session.
  const third = await session.turn();
  expect(third.questions).toEqual([]);
  expect(third.output).toContain("Compiling dep v1.0.0");
  // That program was never started.
  expect(third.output).toContain("hunted.txt: No such file");

  await server.running[Symbol.asyncDispose]();
  const ledger = await server.workspace.read(".orchestration/agent_trace.jsonl");
  expect(ledger).toContain(`"login":"${login}"`);
  expect(keptText(server).includes("npm_correcthorsebattery")).toBe(false);
});

test("cargo publish: one question shows the crate with its hash and its dependencies, and it is sent after a yes to that; yank too", async () => {
  await using certificates = await makeTestCertificates([`DNS:${name}`]);
  const { cert, key } = await certificates.issue("server");
  const tls = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  using registry = await crateRegistry(token, { address, tls });
  using outside = new TestOutside();
  outside.host(name, 443, registry.server);
  await using home = await temporaryDirectory({ ...settings, "ca/ca.crt": certificates.ca });
  vi.stubEnv("HOME", home.root);
  vi.stubEnv("SSL_CERT_FILE", home.path("ca/ca.crt"));
  const publish = "cargo publish --registry corp --allow-dirty --no-verify";
  const manifest = crate["Cargo.toml"].replace("edition", 'description = "An app"\nlicense = "MIT"\nedition');
  await using server = await staging(
    ["cargo build", publish, publish, "cargo yank --registry corp app@1.0.0"],
    { ...crate, "Cargo.toml": manifest },
    {},
    { outside },
  );
  await using session = await AskedSession.start(server);
  // What it depends on is known from a build.
  await session.turn("once", "once");
  const refused = await session.turn("no");
  expect(refused.questions[0]?.title, refused.output).toMatch(
    /send this: publish app 1\.0\.0 \(sha256 \w{64}, dependencies: dep \^1\) at registry\.example:443/,
  );
  expect(registry.requests.filter((request) => request.startsWith("PUT"))).toEqual([]);
  const { output, questions } = await session.turn("once");
  expect(questions).toHaveLength(1);
  expect(output).toContain("exit code 0");
  expect(registry.requests.filter((request) => request.startsWith("PUT"))).toEqual([`PUT /api/v1/crates/new ${token}`]);
  const yanked = await session.turn("once");
  expect(yanked.questions.map(({ title }) => title)).toEqual([
    expect.stringContaining("send this: yank app 1.0.0 at "),
  ]);
  expect(registry.requests.at(-1)).toBe(`DELETE /api/v1/crates/app/1.0.0/yank ${token}`);
  await server.running[Symbol.asyncDispose]();
  expect(keptText(server).includes("npm_correcthorsebattery")).toBe(false);
});
