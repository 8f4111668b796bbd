import { expect, test } from "vitest";
import { parseEndpoint } from "#endpoint";
import {
  aheadRefusal,
  doubledExports,
  endpointRefusal,
  exportsOf,
  intentsRefusal,
  longestYes,
  managedBranches,
  managedHooks,
  managedRules,
  mayLast,
  modelRefusal,
  type NamedModel,
  remoteRefusal,
  type ServerStart,
  serverRefusal,
  unstagedRefusal,
  versionProblem,
} from "#limits/laid-down";
import { type Limit, leastPrivilege } from "#limits/limits";
import { parsePolicy } from "#limits/policy-schema";

/** A policy of root that says this; each key is on line 7. */
const acme = (keys: object): Limit =>
  parsePolicy(
    { gennai_policy: 1, name: "acme", contact: "sec@acme.example", ...keys },
    { holder: "root", file: "/p.yaml", lineOf: () => 7 },
  );

const haiku = { backend: "anthropic", model: "claude-haiku-4", origin: "https://api.anthropic.com" };

test.each<[string, object, Partial<NamedModel>, RegExp | undefined]>([
  ["nothing said", {}, {}, undefined],
  ["listed", { allow: ["anthropic/claude-*"] }, {}, undefined],
  [
    "another name",
    { allow: ["anthropic/claude-*"] },
    { model: "opus" },
    /acme \(\/p\.yaml:7\) does not permit the model/,
  ],
  ["another provider", { allow: ["anthropic/*"] }, { backend: "openai" }, /anthropic|openai\/claude/],
  ["an empty list allows nothing", { allow: [] }, {}, /Questions: sec@acme\.example$/],
  ["deny wins", { allow: ["anthropic/*"], deny: ["*/claude-h*"] }, {}, /does not permit/],
  ["in other letters", { deny: ["anthropic/CLAUDE-*"] }, {}, /does not permit/],
  ["letters count where it is allowed", { allow: ["anthropic/CLAUDE-*"] }, {}, /does not permit/],
  ["at a listed origin", { base_urls: ["https://api.anthropic.com/v1"] }, {}, undefined],
  ["at another origin", { base_urls: ["https://llm.acme.example"] }, {}, /address https:\/\/api\.anthropic\.com/],
  [
    "of the editor",
    { base_urls: ["https://llm.acme.example"] },
    { backend: "editor", origin: undefined },
    /editor's models/,
  ],
  ["the offline assistant", { allow: [], base_urls: [] }, { backend: "offline", origin: undefined }, undefined],
])("models: %s", (_what, models, named, refused) => {
  const said = modelRefusal([acme({ models })], { ...haiku, ...named });
  if (refused === undefined) expect(said).toBeUndefined();
  else expect(said).toMatch(refused);
});

test("answers from elsewhere: none where a policy says so, or cannot be used", () => {
  const broken = leastPrivilege("bad", { name: "acme", holder: "root", file: "/p.yaml" });
  expect([acme({}), acme({ answers: { remote: false } }), broken].map((one) => remoteRefusal([one]))).toEqual([
    undefined,
    expect.stringMatching(/acme \(\/p\.yaml:7\) permits no answers from elsewhere/),
    expect.stringMatching(/permits no answers from elsewhere/),
  ]);
});

const npx = (...words: string[]): ServerStart => ({ command: ["npx", "-y", ...words], environment: {} });
const at = (url: string): ServerStart => ({ url });

test.each<[string, object, ServerStart, boolean]>([
  ["nothing said", {}, npx("evil"), true],
  ["all words", { allow: [{ command: ["npx", "-y", "@acme/mcp"] }] }, npx("@acme/mcp"), true],
  ["a word more", { allow: [{ command: ["npx", "-y", "@acme/mcp"] }] }, npx("@acme/mcp", "--unsafe"), false],
  [
    "a variable that starts something else",
    { allow: [{ command: ["npx", "-y", "@acme/mcp"] }] },
    { command: ["npx", "-y", "@acme/mcp"], environment: { NODE_OPTIONS: "--import /tmp/x.mjs" } },
    false,
  ],
  ["an origin", { allow: [{ url: "https://mcp.acme.example/" }] }, at("https://mcp.acme.example/v1"), true],
  ["another port", { allow: [{ url: "https://mcp.acme.example/" }] }, at("https://mcp.acme.example:8443/"), false],
  ["deny: the first words", { deny: [{ command: ["npx", "-y", "evil"] }] }, npx("evil", "-v"), false],
  ["deny wins", { allow: [{ command: ["npx", "-y", "a"] }], deny: [{ command: ["npx"] }] }, npx("a"), false],
  ["an empty list", { allow: [] }, at("https://mcp.acme.example/"), false],
])("mcp: %s", (_what, mcp, start, may) => {
  expect(serverRefusal([acme({ mcp })], start) === undefined).toBe(may);
});

test.each<[string, object, string, ReturnType<typeof endpointRefusal>]>([
  ["listed", { allow: ["a.example:443"] }, "a.example:443", undefined],
  ["below", { allow: ["*.a.example:443"] }, "x.a.example:443", undefined],
  ["itself is not below", { allow: ["*.a.example:443"] }, "a.example:443", "ask"],
  ["ends alike", { allow: ["*.a.example:443"] }, "xa.example:443", "ask"],
  ["another port", { allow: ["a.example:443"], ask: false }, "a.example:22", "network.ask"],
  ["denied", { allow: ["*.a.example:443"], deny: ["x.a.example:443"] }, "x.a.example:443", "network.deny"],
  ["an empty list", { allow: [], ask: false }, "a.example:443", "network.ask"],
  ["no list", { ask: false }, "a.example:443", "network.ask"],
  ["what is no host", { deny: ["a.example:443"] }, "the agent's own search", "network.deny"],
  ["nothing said", {}, "a.example:443", undefined],
])("network: %s", (_what, network, endpoint, refused) => {
  expect(endpointRefusal(acme({ network }), parseEndpoint(endpoint))).toBe(refused);
});

test("what else is laid down", () => {
  const all = [
    acme({
      protected_branches: ["main"],
      answers: { unattended_yes: false, longest: "session" },
      require: { stages: true, intents: "required" },
      hooks: { only: true, PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "/opt/check" }] }] },
      rules: { zeroAccessPaths: ["secret/"], bashToolPatterns: [{ name: "x", pattern: "x", reason: "r" }] },
    }),
    acme({ protected_branches: ["dev"], answers: { longest: "turn" }, hooks: {} }),
  ];
  expect(managedBranches(all)).toEqual(["main", "dev"]);
  expect(aheadRefusal(all)).toMatch(/wants a person/);
  expect(unstagedRefusal(all)).toMatch(/requires staged commands/);
  expect(intentsRefusal(all)).toMatch(/requires intents/);
  expect(longestYes(all)).toBe("turn");
  expect(["once", "turn", "session"].map((scope) => mayLast(scope as "once", "turn"))).toEqual([true, true, false]);
  expect(managedHooks(all)).toMatchObject({ commands: [{ command: "/opt/check" }], only: /lets no other/ });
  expect(managedRules(all)[0]?.patterns[0]?.name).toBe("rules/managed/x");
});

test.each([
  [">=1.4.0", "1.4.0", true],
  [">=1.4.0", "1.10.0", true],
  [">=1.4.0", "2.0.0", true],
  [">=1.4.0", "1.3.9", false],
  [">=1.4.0", "1.4.0-rc.1", false],
  [">=1.4.0", "1.4.1-rc.1", true],
  [">=1.4.0", "dev", false],
])("version %s, and this is %s: %s", (version, own, may) => {
  expect(versionProblem(acme({ require: { version } }), own) === undefined).toBe(may);
});

test.each<[string, object]>([
  ["a pattern that is none", { rules: { bashToolPatterns: [{ pattern: "(", reason: "r" }] } }],
  ["a key of rules that is none", { rules: { zeroAcessPaths: [] } }],
  ["the user's key", { rules: { onInvalidRules: "continue" } }],
  ["an event that is none", { hooks: { BeforeAll: [] } }],
  ["a matcher that matches nothing", { hooks: { PreToolUse: [{ matcher: "(Bash)", hooks: [] }] } }],
  ["a host without a port", { network: { allow: ["a.example"] } }],
  ["a yes", { answers: { unattended_yes: true } }],
  ["a server by its name", { mcp: { allow: [{ name: "acme" }] } }],
  ["a version that is none", { require: { version: "latest" } }],
  ["days that are none", { retention: { content_days_most: -1 } }],
])("%s is refused", (_what, keys) => {
  expect(() => acme(keys)).toThrow(/^\/p\.yaml:7: /);
});

test("no export of a user or a signed policy stands for root's of the same name, and the second is told of", () => {
  const to = (endpoint: string) => ({ name: "siem", to: "file", endpoint }) as const;
  const root = acme({ export: [{ ...to("/root"), required: true }] });
  const signed: Limit = { name: "a", holder: "user", file: "/a", lines: {}, export: [to("/signed")] };
  const own = [to("/own"), { ...to("/other"), name: "other" }];
  for (const limits of [
    [signed, root],
    [root, signed],
  ]) {
    expect(exportsOf(limits, own).map(({ endpoint }) => endpoint)).toEqual(["/root", "/other"]);
    expect(doubledExports(limits, own)).toEqual(["siem"]);
  }
  expect(doubledExports([root, { ...root, name: "same" }], [])).toEqual([]);
});
