import { chmodSync, existsSync } from "node:fs";
import { packageRegistry } from "@gennai/testkit/package-registry";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { TestOutside } from "@gennai/testkit/test-outside";
import { afterEach, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { networked } from "./networked.ts";

afterEach(() => vi.unstubAllEnvs());

/**
 * A replacement for cargo: `fetch` fills the registry below the home, `build` and `run` do that first unless they are offline,
 * and run the crate's code.
 */
const cargo = `#!/usr/bin/env node
const { execFileSync } = require("node:child_process");
const { existsSync, mkdirSync, writeFileSync } = require("node:fs");
const [verb, ...words] = process.argv.slice(2);
const cache = process.env.HOME + "/.cargo/registry/lefty.cjs";
const offline = words.includes("--offline");
if (!existsSync(cache)) {
  if (offline) { console.error("error: attempting to make an HTTP request, but --offline was specified"); process.exit(101); }
  mkdirSync(process.env.HOME + "/.cargo/registry", { recursive: true });
  try {
    writeFileSync(cache, execFileSync("curl", ["-sSf", "-m", "20", "http://crates.example/lefty"]));
  } catch { console.error("error: failed to download"); process.exit(101); }
  console.log("Downloaded lefty");
}
if (verb !== "fetch" && !existsSync("target")) { require(cache); mkdirSync("target"); }
if (verb === "run") execFileSync("sh", ["app.sh"], { stdio: "inherit" });
`;

/** A build script, which tries to tell what it found. */
const crate = `
const { execFileSync } = require("node:child_process");
try { execFileSync("curl", ["-sSf", "-m", "5", "http://crates.example/stolen"], { stdio: "ignore" }); console.log("reached"); }
catch { console.log("built alone"); }
`;

async function crates(outside: TestOutside): Promise<readonly string[]> {
  return outside.pages("crates.example", 80, ({ url }) => (url === "/lefty" ? { body: crate } : { status: 404 }));
}

async function machineWithCargo() {
  const home = await temporaryDirectory({ "tools/bin/cargo": cargo });
  chmodSync(home.path("tools/bin/cargo"), 0o755);
  vi.stubEnv("HOME", home.root);
  vi.stubEnv("CARGO_HOME", undefined);
  vi.stubEnv("PATH", `${home.path("tools/bin")}:${process.env["PATH"] ?? ""}`);
  return home;
}

test("cargo fetches by one yes, builds without the network, and the session keeps what was fetched", async () => {
  await using home = await machineWithCargo();
  using outside = new TestOutside();
  const asked = await crates(outside);
  await outside.pages("api.example", 80, () => ({ body: "forty-two\n" }), "93.184.216.35");
  await using server = await networked(outside, ["cargo build", "rm -r target && cargo build", "cargo run"], {
    ".gitignore": "target\n",
    "app.sh": "curl -sSf -m 20 http://api.example/ && ! curl -sSf -m 20 http://crates.example/told\n",
  });
  await using session = await AskedSession.start(server);

  const first = await session.turn("once");
  expect(first.questions[0]?.title, first.output).toBe("Let cargo build reach crates.example:80?");
  expect(first.output).toContain("Downloaded lefty\nbuilt alone\n");
  // In the cache of the session: nobody is asked again, and no run has a way out.
  const second = await session.turn();
  expect(second.questions).toEqual([]);
  expect(second.output).toMatch(/^built alone$/m);
  expect(asked).toEqual(["GET crates.example /lefty"]);
  // All was there: what wants the network is the project's own program.
  const third = await session.turn("once", "once");
  // A run with a way out sees nothing that an earlier one may have changed, so it fetches again. Then it has no way there.
  expect(third.questions.map(({ title }) => title)).toEqual([
    "Let cargo run reach api.example:80?",
    "Let cargo run reach crates.example:80?",
  ]);
  expect(third.output).toContain("forty-two");
  expect(asked).toEqual(["GET crates.example /lefty", "GET crates.example /lefty"]);
  expect(existsSync(home.path(".cargo"))).toBe(false);

  await using other = await AskedSession.start(server);
  expect((await other.turn("no")).questions).toHaveLength(1);
});

test("what one run leaves in a cache, no other session and no install that was agreed to finds there", async () => {
  await using home = await machineWithCargo();
  using outside = new TestOutside();
  const asked = await crates(outside);
  const poison = `mkdir -p ~/.cargo/registry && echo 'console.log("poisoned")' > ~/.cargo/registry/lefty.cjs`;
  await using server = await networked(outside, [poison, "cargo build"]);
  await using session = await AskedSession.start(server);
  expect((await session.turn()).exitCode).toBe(0);
  const built = await session.turn("once");
  expect(built.output).toContain("built alone");
  expect(built.output).not.toContain("poisoned");
  expect(asked).toEqual(["GET crates.example /lefty"]);
  expect(existsSync(home.path(".cargo"))).toBe(false);
});

test("what a program says was refused at this machine's loopback is asked about, however it words that", async () => {
  using registry = await packageRegistry();
  const { port } = registry;
  const said = [
    `Failed to fetch metadata from http://127.0.0.1:${port}/dep: error sending\\n request: client error (Connect): tcp connect error: Connection refused (os error 111)`,
    `psql: error: connection to server at \\"localhost\\" (127.0.0.1), port ${port} failed: Connection refused`,
    `connect ECONNREFUSED ::1:${port}`,
  ];
  using outside = new TestOutside();
  outside.servers.set(`127.0.0.1:${port}`, port);
  await using server = await networked(
    outside,
    said.map((_, index) => `sh say-${index}.sh`),
    Object.fromEntries(said.map((text, index) => [`say-${index}.sh`, `printf "${text}\\n" >&2; exit 1\n`])),
  );
  await using session = await AskedSession.start(server);
  for (const text of said) {
    const { questions } = await session.turn("no");
    expect(questions[0]?.title, text).toContain(`reach 127.0.0.1:${port}?`);
  }
});
