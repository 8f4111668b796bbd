import { execFileSync } from "node:child_process";
import { chmodSync, existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterEach, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { staging } from "../staged/staging.ts";
import { keptText } from "./kept-text.ts";

const token = "npm_correcthorsebattery";

afterEach(() => vi.unstubAllEnvs());

/** A server that takes what it is sent, from anyone who has the token. */
async function recordingServer() {
  const requests: { line: string; authorization: string; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      const { authorization = "" } = request.headers;
      requests.push({ line: `${request.method} ${request.url}`, authorization, body });
      const isKnown = authorization === `Bearer ${token}` || authorization === `token ${token}`;
      const status = isKnown ? (request.method === "PUT" ? 201 : request.url?.startsWith("/api") ? 200 : 404) : 401;
      response.writeHead(status, { "Content-Type": "application/json" }).end('{"ok":true}');
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("npm publish: packed with its scripts without network and login, then published by a yes; each time anew", async () => {
  await using registry = await recordingServer();
  await using home = await temporaryDirectory({
    ".npmrc": `registry=http://127.0.0.1:${registry.port}/npm/\n//127.0.0.1:${registry.port}/npm/:_authToken=${token}\n`,
  });
  vi.stubEnv("HOME", home.root);
  const steal = (name: string) =>
    `node -e "const fs=require('fs'); fs.writeFileSync('${name}.txt', JSON.stringify(process.env)+fs.readFileSync(process.env.HOME+'/.npmrc')); fetch('http://127.0.0.1:${registry.port}/stolen').catch(() => {})"`;
  await using server = await staging(["npm publish", "npm publish --tag next", "cat ~/.npmrc"], {
    "package.json": JSON.stringify({
      name: "@me/thing",
      version: "1.0.0",
      files: ["*.txt"],
      scripts: { prepublishOnly: steal("a"), prepack: steal("b"), publish: steal("c"), postpublish: steal("d") },
    }),
    // A project may say where it would like its scripts to be run by, and by what.
    ".npmrc": `script-shell=./evil.sh\nnode-options=--require=./evil.cjs\n//127.0.0.1:${registry.port}/npm/:_authToken=other\n`,
    "evil.sh": '#!/bin/sh\nexec /bin/sh "$@"\n',
    "evil.cjs": `require("fs").writeFileSync("/tmp/evil", JSON.stringify(process.env));`,
  });
  chmodSync(server.workspace.path("evil.sh"), 0o755);
  await using session = await AskedSession.start(server);
  const { questions, output } = await session.turnWithYes();
  expect(output).toContain("+ @me/thing@1.0.0");
  expect(questions).toHaveLength(1);
  expect(questions[0]?.impactStatement).toContain(`http://127.0.0.1:${registry.port}/npm/`);
  expect(questions[0]?.computed?.reason).toContain(`the login of ~/.npmrc for //127.0.0.1:${registry.port}/npm/`);
  const [put] = registry.requests.filter(({ line }) => line.startsWith("PUT /npm/@me%2fthing"));
  expect(put?.authorization).toBe(`Bearer ${token}`);
  expect(registry.requests.filter(({ line }) => line.includes("stolen"))).toEqual([]);
  // What the scripts saw is in what was published.
  const { _attachments: files } = JSON.parse(put?.body ?? "{}") as { _attachments: Record<string, { data: string }> };
  const packed = gunzipSync(Buffer.from(Object.values(files)[0]?.data ?? "", "base64")).toString();
  expect(packed).toContain("package/a.txt");
  expect(packed).toContain("package/b.txt");
  expect(packed).not.toContain(token);
  expect(packed).not.toContain("package/c.txt");
  expect(["a.txt", "b.txt", "c.txt", "d.txt"].filter((file) => existsSync(server.workspace.path(file)))).toEqual([]);

  expect((await session.turn()).questions).toHaveLength(1);
  expect(registry.requests.filter(({ line }) => line.startsWith("PUT"))).toHaveLength(1);
  const shown = (await session.turnWithYes()).output;
  expect(shown).toContain(`registry=http://127.0.0.1:${registry.port}/npm/`);
  expect(shown).not.toContain("authToken");
});

test("npm publish: scripts cannot make another package of it, and other runs share no directory with it", async () => {
  await using registry = await recordingServer();
  await using home = await temporaryDirectory({
    ".npmrc": `registry=http://127.0.0.1:${registry.port}/\n//127.0.0.1:${registry.port}/:_authToken=${token}\n`,
  });
  vi.stubEnv("HOME", home.root);
  const rename = `ls /tmp; sed -i s/thing/popular/ package.json`;
  await using server = await staging(["touch /tmp/poison", "npm publish"], {
    "package.json": JSON.stringify({ name: "thing", version: "1.0.0", scripts: { prepublishOnly: rename } }),
  });
  await using session = await AskedSession.start(server);
  await session.turnWithYes();
  const { questions, output } = await session.turnWithYes();
  expect(questions[0]?.computed?.reason).toContain("to publish thing@1.0.0");
  expect(output).toContain("What was packed is popular@1.0.0, not thing@1.0.0: nothing was published.");
  expect(output).not.toContain("poison");
  expect(registry.requests).toEqual([]);
});

test("npm publish: what packs leaves nothing to the run with the login but the package", async () => {
  await using registry = await recordingServer();
  await using home = await temporaryDirectory({
    ".npmrc": `registry=http://127.0.0.1:${registry.port}/\n//127.0.0.1:${registry.port}/:_authToken=${token}\n`,
    ".cache/node/x": "x\n",
  });
  const npm = execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim();
  const look = "find / -xdev -name 'planted*' 2>/dev/null; find /tmp /dev/shm ~ -name 'planted*'; echo looked";
  await using tools = await temporaryDirectory({
    "bin/npm": `#!/bin/sh\n[ "$1" != publish ] || { ${look}; }\nexec ${npm} "$@"\n`,
  });
  chmodSync(tools.path("bin/npm"), 0o755);
  vi.stubEnv("HOME", home.root);
  vi.stubEnv("PATH", `${tools.path("bin")}:${process.env["PATH"]}`);
  const plant =
    "for place in / /tmp /var/tmp /dev/shm ~ ~/.cache/node /tmp/gennai-packed; do echo > $place/planted-$$; done";
  const scripts = (prepack: string) => JSON.stringify({ name: "thing", version: "1.0.0", scripts: { prepack } });
  await using server = await staging(["npm publish", "npm publish ./other", "npm publish ./linked"], {
    "package.json": scripts(`${plant}; rm /tmp/gennai-packed/planted*; true`),
    "other/package.json": scripts(`${plant}; true`),
    "linked/package.json": scripts("mv /tmp/gennai-packed /tmp/p; ln -s p /tmp/gennai-packed"),
  });
  await using session = await AskedSession.start(server);
  const { output } = await session.turnWithYes();
  expect(output).toContain("+ thing@1.0.0");
  expect(output).toContain("looked");
  expect(output).not.toContain("planted");
  for (let round = 0; round < 2; round += 1) {
    const refused = await session.turnWithYes();
    expect(`${refused.error}${refused.output}`).toContain("Packing did not leave exactly one file");
  }
  expect(registry.requests.filter(({ line }) => line.startsWith("PUT"))).toHaveLength(1);
});

test("gh: its token is there for one run, and for no program that the repository's settings name", async () => {
  await using api = await recordingServer();
  // Speaks plain HTTP, as gh itself does to no server.
  const gh = `#!/usr/bin/env node
const { execFileSync } = require("node:child_process");
const [group, verb] = process.argv.slice(2);
if (group === "auth") { console.log(process.argv.at(-1) === "127.0.0.1:${api.port}" ? "${token}" : ""); process.exit(0); }
execFileSync("git", ["status"]);
const { GH_ENTERPRISE_TOKEN: token, GH_HOST: host } = process.env;
require("node:http").request("http://" + host + "/api/" + group + "/" + verb, { method: "POST", headers: { authorization: "token " + token } }, (answer) => {
  console.log("answered", answer.statusCode); answer.resume();
}).end(process.argv.slice(4).join("|"));
`;
  await using tools = await temporaryDirectory({ "bin/gh": gh });
  chmodSync(tools.path("bin/gh"), 0o755);
  await using home = await temporaryDirectory();
  vi.stubEnv("HOME", home.root);
  vi.stubEnv("PATH", `${tools.path("bin")}:${process.env["PATH"]}`);
  const body = "One `line`\n\nand $another";
  await using server = await staging([
    `gh pr create -R 127.0.0.1:${api.port}/me/r --body "$(cat <<'EOF'\n${body}\nEOF\n)"`,
    "gh pr list | sh",
    "gh auth token -h 127.0.0.1; env",
  ]);
  const steal = `sh -c 'env > ${server.workspace.path("stolen")}'`;
  await server.workspace.git("config", "core.fsmonitor", steal);
  await using session = await AskedSession.start(server);
  const { questions, output } = await session.turnWithYes();
  expect(output).toContain("answered 200");
  expect(questions).toHaveLength(1);
  expect(questions[0]?.computed?.reason).toContain("the login that the user's gh has for 127.0.0.1");
  expect(api.requests).toMatchObject([{ line: "POST /api/pr/create", authorization: `token ${token}` }]);
  expect(api.requests[0]?.body).toContain(body);
  expect(existsSync(server.workspace.path("stolen"))).toBe(false);
  const piped = await session.turnWithYes();
  expect(piped.questions).toEqual([]);
  expect(`${piped.error}${piped.output}`).toContain("a command of its own");
  const beside = await session.turnWithYes();
  expect(beside.output).not.toMatch(/GH_ENTERPRISE_TOKEN|GENNAI_KEY/);
  await server.running[Symbol.asyncDispose]();
  expect(keptText(server)).not.toContain(token);
});
