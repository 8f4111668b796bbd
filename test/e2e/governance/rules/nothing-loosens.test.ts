import { readFileSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { onMachine } from "./managed-machine.ts";

const repository = fileURLToPath(new URL("../../../../", import.meta.url));
const policy = `gennai_policy: 1
name: acme
contact: sec@acme.example
answers: { unattended_yes: false, longest: turn }
models: { allow: [anthropic/claude-haiku-*], base_urls: ["https://api.anthropic.com"] }
require: { sandbox: true, intents: required }
protected_branches: [work]
network: { allow: ["a.example:443"], ask: false }
mcp: { allow: [] }
hooks: { only: true }
...
`;

const script = [
  "mkdir -p /tmp/ws && cd /tmp/ws && git init -q -b work . && git config user.name a && git config user.email a@a.example",
  `printf '{"mcpServers":{"theirs":{"command":"true"}}}' > .mcp.json; printf '{"questions":[]}' > /tmp/ci.json`,
  "git add . && git commit -qm first",
].join("; ");

const models = ["--model", "--backend", "--base-url", "--attempt-model"];
const ahead = ["--yes", "--allow", "--ci-policy", "--keep"];
/** Options with which somebody could ask for less than the policy above; no other option of the reference can. */
const looser = new Set([...models, ...ahead, "--commands"]);
const harmless = new Set(
  [
    "--admin-role --against --agent --all --allow-host --allow-origin --amend --anchors --annotations --approver-role --artefacts --ask",
    "--attempts --audience --auth --auth-token --auth-token-file --behind-proxy --branch --browser --bundle --by --check --ci",
    "--close-all --compare --continue --digest --drain --drop --dry-run --effort --follow --force --forget --format --git",
    "--help --home --host --image --include --intent --issuer --json --jsonl --jwks --kept --key --limit --list",
    "--local-files --log --log-format --log-level --login --managed --max-calls-per-second --max-context-tokens --max-cost",
    "--max-iterations --max-output-tokens --max-session-tokens --max-sessions --max-sessions-per-user",
    "--max-streams-per-user --max-tenants --max-turn-tokens --max-turns --max-turns-per-tenant --max-turns-per-user --name",
    "--metrics --mode --no-auth --no-local-files --no-thinking --notes --of --open --out --output --output-schema",
    "--parallel --plain --policy --port --protect --prune --public-key --question-seconds --quit-when-idle --quit-with-stdin",
    "--read --reason --refuse --remembered --rest --resume --rina-port --roles-claim --run --scenario --scope --serve",
    "--server --session --set-key --shared --since --slow-reader --tenant-claim --timeout --tls-cert --tls-key --to --token",
    "--tree-wait --turn --url --user --user-claim --verbosity --version --witness --workspace --workspace-root --worktree --write",
  ].flatMap((line) => line.split(" ")),
);

test("each option of the command line is known to loosen nothing, or is tried below", () => {
  const reference = readFileSync(`${repository}docs/reference/cli.md`, "utf8");
  const names = [...reference.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name = ""]) => name);
  expect(new Set(names)).toEqual(new Set([...looser, ...harmless]));
});

/** Settings of VS Code become options and requests: those that ask for less are refused as these are. */
const settings: Readonly<Record<string, string>> = {
  defaultBackend: "--backend",
  defaultModel: "--model",
  defaultModelUrl: "--base-url",
  "governance.commands": "--commands",
  "governance.intents": "intents mode",
};
const otherSettings =
  "serverPort baseUrl serverCommand nodePath autoLaunch questionSeconds defaultScenario scenarioFiles editingMode createBranch showThinking notifications notifyBlockedCalls provenance.annotations provenance.hover governance.protectedBranches copilot.offerTools authToken";

test("each setting of VS Code is known to loosen nothing, or is one of what is tried below", () => {
  const reference = readFileSync(`${repository}docs/reference/settings.md`, "utf8");
  const names = [...reference.matchAll(/^\| `gennai\.([A-Za-z.]+)/gm)].map(([, name = ""]) => name);
  expect(new Set(names)).toEqual(new Set([...Object.keys(settings), ...otherSettings.split(" ")]));
});

/** Variables that the program reads: they say where things are, or hold secrets. */
const variables =
  "API_KEY AUTH_TOKEN AUTH_TOKEN_ CAPABILITIES DEBUG FILE_ GUARD_PROJECT INVOKED_FROM NATS_PASSWORD NATS_USER POLICY PROJECT_DIR RIPGREP SAMPLE_WORKSPACE STATE_DIR VARIABLES_NOT_PASSED";

test("each variable of Gennai is known, and none of them is asked where root's policy is", async () => {
  const found = new Set<string>();
  for await (const file of glob(`${repository}packages/*/src/**/*.{ts,tsx}`)) {
    const text = await readFile(file, "utf8");
    for (const [, name = ""] of text.matchAll(/\bGENNAI_([A-Z_]+)/g)) found.add(name);
  }
  expect(found).toEqual(new Set(variables.split(" ")));
  const moved = Object.fromEntries(variables.split(" ").map((name) => [`GENNAI_${name}`, "/tmp/elsewhere"]));
  const environment = { ...moved, XDG_CONFIG_HOME: "/tmp/elsewhere", HOME: "/tmp/elsewhere", XDG_CONFIG_DIRS: "/tmp" };
  const { output } = await onMachine(["policy", "show", "--json"], { policy, environment });
  expect(JSON.parse(output)).toMatchObject({
    policies: expect.arrayContaining([expect.objectContaining({ name: "acme" })]),
  });
});

const haiku = ["--backend", "anthropic", "--model", "claude-haiku-4"];

describe("asked for less, it ends with 2 and names the file and its line", () => {
  test.each<[string, readonly string[], number]>([
    ["--yes", ["run", "--yes", "x"], 4],
    ["--allow", ["run", "--allow", "b.example:443", "x"], 4],
    ["--keep", ["try", "--keep", "--", "true"], 4],
    ["--ci-policy", ["run", "--ci", "--ci-policy", "/tmp/ci.json", "x"], 4],
    ["--model", ["run", "--backend", "anthropic", "--model", "claude-opus-4", "x"], 5],
    ["--backend", ["run", "--backend", "ollama", "--model", "claude-haiku-4", "x"], 5],
    ["--base-url", ["run", ...haiku, "--base-url", "https://b.example", "x"], 5],
    ["--commands", ["serve", "--port", "0", "--commands", "ask"], 6],
    ["intents mode", ["intents", "mode", "off"], 6],
    ["mcp accept", ["mcp", "accept", "theirs"], 9],
  ])("%s", async (_what, args, line) => {
    const said = await onMachine(args, { policy, script });
    expect(said.errors).toMatch(new RegExp(`acme \\(/etc/gennai/policy\\.yaml:${line}\\) .*sec@acme\\.example`));
    expect(said.code).toBe(2);
  });
});
