import { type Command, Help } from "commander";

/** What `--help` shows of each command below its options, by the command's words; one that only holds others shows one of theirs. */
const examples: Readonly<Record<string, string>> = {
  "": `gennai                                          a conversation in this directory; gennai run --help has its options
gennai --continue                               continue the newest one
gennai run "replace colour with color in src/**/*.js"
gennai run --mode proposal "add a test for parse()"
gennai serve                                    start a server for this directory, with the web UI
gennai undo                                     undo the last changes
gennai ledger verify                            check the record of what was done`,
  serve: `gennai serve --workspace ~/project
gennai serve --backend openai-compatible --base-url http://127.0.0.1:8080/v1 --model qwen3`,
  doctor: `gennai doctor
gennai doctor --log nats://a:4222,b:4222,c:4222 --json
GENNAI_AUTH_TOKEN_1=… GENNAI_AUTH_TOKEN_2=… gennai doctor --compare https://one.example https://two.example`,
  open: `gennai open --browser`,
  run: `gennai run "rename the function load to loadConfig"
gennai run --mode proposal --refuse src/a.ts#2 "tidy up the imports"
gennai run --yes --json "fix the failing test" | jq -r .result.text
gennai run --intent INT-001 "add the missing test"
gennai run --image mockup.png "make the page look like this"
gennai run --attempts 3 --check "npm test" "make the parser accept comments"
gennai run --continue "now the same for the tests"
git diff | gennai run "review this"
gennai run --ci --artefacts gennai-run "fix the failing test"`,
  attempts: "gennai attempts list",
  "attempts list": "gennai attempts list",
  "attempts show": "gennai attempts show 2",
  "attempts take": "gennai attempts take 2 --refuse src/a.ts",
  "attempts drop": "gennai attempts drop",
  try: `gennai try -- npm test             tests of a branch that you do not trust
gennai try "npx prettier --write . && npm test"
gennai try --keep "sed -i s/teh/the/ docs/*.md"
gennai try --allow registry.npmjs.org:443 --keep -- npm install left-pad
gennai try --keep --include dist -- npm run build`,
  acp: `gennai acp        as the editor's settings name it: command gennai, arguments acp`,
  undo: `gennai undo
gennai undo --list
gennai undo --turn 2 src/a.ts`,
  sessions: "gennai sessions --all",
  "sessions list": "gennai sessions list",
  "sessions rename": 'gennai sessions rename 0a1b "Dark mode"',
  "sessions delete": "gennai sessions delete 0a1b",
  "sessions export": "gennai sessions export 0a1b --out session.jsonl",
  "sessions import": "gennai sessions import session.jsonl",
  "sessions worktrees": "gennai sessions worktrees --prune",
  "sessions fork": "gennai sessions fork 0a1b",
  models: `gennai models --backend anthropic
gennai models --base-url http://127.0.0.1:8000/v1`,
  "models try": "gennai models try qwen3:8b --backend ollama",
  background: "gennai background list",
  "background list": "gennai background list",
  "background logs": "gennai background logs b1 --follow",
  "background stop": "gennai background stop b1",
  "background open": "gennai background open b1 3000 --port 3000",
  stage: "gennai stage keep dist",
  "stage list": "gennai stage list",
  "stage keep": "gennai stage keep dist",
  "stage drop": "gennai stage drop node_modules",
  storage: "gennai storage",
  "storage show": "gennai storage show",
  "storage free": "gennai storage free",
  ledger: "gennai ledger verify",
  "ledger verify": `gennai ledger verify
gennai ledger verify --bundle b.json --public-key signer.pub`,
  "ledger repair": "gennai ledger repair",
  "ledger show": "gennai ledger show --limit 50",
  "ledger explain": "gennai ledger explain 6",
  "ledger rotate-key": "gennai ledger rotate-key",
  "ledger accept-rollback": "gennai ledger accept-rollback",
  "ledger export": "gennai ledger export --format bundle --out b.json",
  "ledger anchor": "gennai ledger anchor --to heads.txt",
  "ledger resend": "gennai ledger resend --name siem 12..40",
  "ledger page": "gennai ledger page --out check.html",
  "ledger purge": "gennai ledger purge --session 0a1b",
  blame: `gennai blame src/parse.ts:40-60
gennai blame src/parse.ts --bundle b.json --public-key signer.pub`,
  report: "gennai report --since main --format html --out report.html",
  provenance: "gennai provenance note",
  "provenance note": "gennai provenance note --dry-run",
  "provenance trailer": "gennai provenance trailer --amend",
  intents: "gennai intents list",
  "intents list": "gennai intents list",
  "intents show": "gennai intents show INT-001",
  "intents init": "gennai intents init",
  "intents accept": "gennai intents accept",
  "intents mode": "gennai intents mode required",
  emergency: 'gennai emergency stop-all on --reason "it deletes the wrong files"',
  "emergency status": "gennai emergency status",
  "emergency read-only": 'gennai emergency read-only off --reason "all clear"',
  "emergency disable-high-impact": 'gennai emergency disable-high-impact on --reason "release day"',
  "emergency stop-all": 'gennai emergency stop-all on --reason "it deletes the wrong files"',
  "emergency block": 'gennai emergency block deploy --reason "release freeze"',
  "emergency unblock": 'gennai emergency unblock deploy --reason "released"',
  hooks: "gennai hooks show",
  "hooks show": "gennai hooks show",
  "hooks trust": "gennai hooks trust",
  mcp: "gennai mcp list",
  "mcp list": "gennai mcp list",
  "mcp accept": "gennai mcp accept files",
  "mcp login": "gennai mcp login docs",
  "mcp logout": "gennai mcp logout docs",
  "mcp serve": "gennai mcp serve --workspace ~/project        as the agent's settings name it",
  check: "gennai check list",
  "check list": "gennai check list",
  "check revoke": "gennai check revoke",
  answers: "gennai answers list",
  "answers list": "gennai answers list",
  "answers revoke": "gennai answers revoke --all",
  "answers allow": 'gennai answers allow "npm install" registry.npmjs.org:443',
  approve: `gennai approve --server https://gennai.example:7777 --auth-token-file token
gennai approve 0f9c… --server https://gennai.example:7777 --auth-token-file token`,
  people: "gennai people list",
  "people list": "gennai people list",
  "people pin": "gennai people pin alice",
  guard: "gennai guard install claude-code",
  "guard install": "gennai guard install claude-code",
  "guard uninstall": "gennai guard uninstall claude-code",
  "guard status": "gennai guard status",
  "guard doctor": "gennai guard doctor claude-code",
  "guard run": `gennai guard run -- claude -p "add a test for the parser"
gennai guard run -- codex exec --sandbox danger-full-access "add a test"      its own sandbox cannot start in ours
gennai guard run --allow api.anthropic.com:443 -- pi -p "add a test"
gennai guard run --allow api.openai.com:443 --login --keep -- opencode run "add a test"`,
  "guard hook": "gennai guard hook claude-code < call.json",
  plan: `gennai plan new "replace colour with color in src/**/*.js then verify npm test"`,
  "plan new": `gennai plan new "replace colour with color in src/**/*.js then verify npm test"`,
  "plan preview": "gennai plan preview ID",
  "plan approve": "gennai plan approve ID --digest SHA256",
  "plan execute": "gennai plan execute ID",
  "plan verify": "gennai plan verify ID",
  "plan status": "gennai plan status ID",
  policy: 'gennai policy check "git push --force"',
  "policy check": `gennai policy check "git push --force"
gennai policy check --write package-lock.json --json
gennai policy check --run "npm test"
gennai policy check --jsonl < calls.jsonl`,
  "policy test": "gennai policy test",
  "policy log": "gennai policy log",
  "policy replay": "gennai policy replay",
  "policy show": "gennai policy show",
  "policy fetch":
    "gennai policy fetch --url https://acme.example/policy.json --key /etc/gennai/fleet.pub --to /etc/gennai/policy.d",
  "policy sign": "gennai policy sign interns.json --key team.pem > policy.json",
};

/** The help of a command, with its examples below the options. */
export function helpWithExamples(command: Command, helper: Help): string {
  const shown = examples[wordsOf(command).join(" ")];
  const help = Help.prototype.formatHelp.call(helper, command, helper);
  if (shown === undefined) return help;
  return `${help}\n${shown.includes("\n") ? "Examples" : "Example"}:\n${shown.replaceAll(/^/gm, "  ")}\n`;
}

function wordsOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...wordsOf(command.parent), command.name()];
}
