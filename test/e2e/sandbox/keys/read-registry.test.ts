import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { packageRegistry } from "@gennai/testkit/package-registry";
import { type Files, temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { makeTestCertificates } from "@gennai/testkit/test-certificates";
import { TestOutside } from "@gennai/testkit/test-outside";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { staging } from "../staged/staging.ts";
import { hunt } from "./hunt.ts";
import { keptText } from "./kept-text.ts";
import { managersBelow } from "./services/package-managers.ts";

/** Drawn anew: commands see the Node that runs this, and may see what lies beside it, such as this file. */
const token = `npm_${randomBytes(12).toString("hex")}`;
const name = "registry.example";
const address = `https://${name}/`;

beforeEach(() => {
  // Of the machine that tests run on.
  for (const variable of ["NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PIP_CERT"]) {
    vi.stubEnv(variable, undefined);
  }
});
afterEach(() => vi.unstubAllEnvs());

const project = JSON.stringify({
  name: "app",
  version: "1.0.0",
  dependencies: { dep: "1.0.0" },
  dependenciesMeta: { dep: { built: true } },
});

interface Manager {
  readonly command: string;
  readonly files: Files;
  /** Of the user's. */
  readonly settings: Files;
  readonly login: string;
  readonly laterYarn?: boolean;
  readonly refusedFirst?: boolean;
}

/** Hunts, and is the one of the machine then. */
function ownYarn(file: string): string {
  return `${hunt}\nrequire(process.env.PATH.split(":").map((directory) => directory + "/${file}").find((one) => require("node:fs").existsSync(one)));\n`;
}

const npmrc = { ".npmrc": `registry=${address}\n//${name}/:_authToken=${token}\n` };
const managers: Readonly<Record<string, Manager>> = {
  pnpm: {
    // What it writes into package.json is agreed to with the login.
    command: "pnpm add dep@1.0.0 --reporter=append-only",
    files: {
      "package.json": '{"name":"app","version":"1.0.0"}',
      "pnpm-workspace.yaml": "allowBuilds:\n  dep: true\n",
      ".pnpmfile.cjs": `${hunt}\nmodule.exports = {};\n`,
    },
    settings: npmrc,
    login: `the login of ~/.npmrc for //${name}/`,
    refusedFirst: true,
  },
  "the first yarn": {
    command: "yarn install",
    // Yarn starts what it is told to be.
    files: { ".yarnrc": 'yarn-path "./own-yarn.cjs"\n', "own-yarn.cjs": ownYarn("yarn.js") },
    settings: npmrc,
    login: `the login of ~/.npmrc for //${name}/`,
  },
  "the later yarn": {
    command: "yarn install",
    files: {
      ".yarnrc.yml": "nodeLinker: node-modules\nplugins:\n  - ./hunting.cjs\n",
      "hunting.cjs": `module.exports = { name: "hunting", factory: () => { ${hunt}; return {}; } };\n`,
    },
    settings: {
      ".yarnrc.yml": `npmRegistryServer: "${address.slice(0, -1)}"\nnpmAuthToken: ${token}\nenableTelemetry: false\nenableImmutableInstalls: false\nnpmMinimalAgeGate: 0\n`,
    },
    login: `the login of ~/.yarnrc.yml for ${name}`,
    laterYarn: true,
  },
};

test.each(Object.entries(managers))(
  "%s installs from a private registry by one yes that names the login, which nothing in the run finds",
  async (_name, { command, files, settings, login, laterYarn = false, refusedFirst = false }) => {
    await using certificates = await makeTestCertificates([`DNS:${name}`]);
    const { cert, key } = await certificates.issue("server");
    const tls = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
    using registry = await packageRegistry(token, { tls, address });
    using outside = new TestOutside();
    outside.host(name, 443, registry.server);
    const evil = await outside.pages("evil.example", 80, () => ({ body: "thanks" }), "93.184.216.99");
    const tools = managersBelow("tools", { laterYarn });
    await using home = await temporaryDirectory({ ...settings, ...tools.files, "ca/ca.crt": certificates.ca });
    vi.stubEnv("HOME", home.root);
    vi.stubEnv("SSL_CERT_FILE", home.path("ca/ca.crt"));
    tools.use(home);
    await using server = await staging(
      [...(refusedFirst ? [command] : []), command, "cat node_modules/dep/ran.txt; cat hunted.txt"],
      { "package.json": project, ...files },
      {},
      { outside },
    );
    await using session = await AskedSession.start(server);

    if (refusedFirst) {
      const first = await session.turn("no");
      expect(first.questions[0]?.title, first.output).toContain(`reach ${name}:443 with ${login}?`);
      expect(registry.requests).toEqual([]);
    }

    const second = await session.turn("once");
    expect(second.questions, second.output).toHaveLength(1);
    const [question] = second.questions;
    expect(question?.computed?.rule).toBe("keys/use");
    expect(question?.computed?.reason).toContain(login);
    expect(second.output).toContain(`[reached ${name}:443`);
    expect(second.output).toContain(`, with ${login}:`);
    expect(second.output).not.toContain(token);
    expect(registry.requests).toContain(`GET /dep/-/dep-1.0.0.tgz Bearer ${token}`);

    const third = await session.turn();
    expect(third.output).toMatch(/^ran proxy= \nno: (?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/m);
    // Code of the workspace ran with the login's way open, and could read what it may; it found no login, and no other use for one.
    expect(third.output).toContain("read: 200\npublish: 403\ntokens: 403\n");
    expect(third.output).toMatch(/^found: 0 of [1-9]\d+$/m);
    expect(registry.requests.filter((request) => !/^(?:GET|HEAD) \/(?:dep|pnpm)\b/.test(request))).toEqual([]);
    expect(evil).toEqual([]);

    await server.running[Symbol.asyncDispose]();
    const ledger = await server.workspace.read(".orchestration/agent_trace.jsonl");
    const used = new RegExp(
      `"host":"${name}"[^}]*"login":"${login.replaceAll(/[/.]/g, "\\$&")}"|"login":"${login.replaceAll(/[/.]/g, "\\$&")}"[^}]*"host":"${name}"`,
    );
    expect(ledger).toMatch(used);
    expect(keptText(server)).not.toContain(token);
  },
);

test("a redirect to another host is a question of its own, and no login goes there", async () => {
  let archive: Buffer = Buffer.alloc(0);
  const told: string[] = [];
  using outside = new TestOutside();
  await outside.pages(
    "files.example",
    80,
    ({ headers, url }) => {
      told.push(`${url} ${JSON.stringify(headers)}`);
      return { body: archive };
    },
    "93.184.216.99",
  );
  using registry = await packageRegistry(token, { archives: "http://files.example/" });
  archive = registry.archive;
  const { port } = registry;
  const tools = managersBelow("tools");
  await using home = await temporaryDirectory({
    ".npmrc": `registry=http://127.0.0.1:${port}/\n//127.0.0.1:${port}/:_authToken=${token}\n`,
    ...tools.files,
  });
  vi.stubEnv("HOME", home.root);
  tools.use(home);
  outside.servers.set(`127.0.0.1:${port}`, port);
  const command = "pnpm install --reporter=append-only --ignore-scripts";
  await using server = await staging([command], { "package.json": project }, {}, { outside });
  await using session = await AskedSession.start(server);
  const { questions, output } = await session.turn("once", "once");
  expect(
    questions.map(({ title }) => title),
    output,
  ).toEqual([
    `Let pnpm install reach 127.0.0.1:${port} with the login of ~/.npmrc for //127.0.0.1:${port}/?`,
    "Let pnpm install reach files.example:80?",
  ]);
  expect(output).toContain("+ dep 1.0.0");
  expect(told.join("\n")).toContain("/dep-1.0.0.tgz");
  expect(told.join("\n")).not.toMatch(/authorization|correcthorse/i);
});
