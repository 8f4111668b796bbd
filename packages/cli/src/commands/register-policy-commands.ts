import type { Command } from "commander";
import type { CommandHost } from "./command-host.ts";
import { collect, commandsOption, workspaceOption } from "./options/shared-options.ts";

/** `gennai policy …`: what the rules say, said and stopped, and the policies that nobody can lift. */
export function registerPolicyCommands(program: Command, { runs }: CommandHost): void {
  const policy = program
    .command("policy")
    .description("ask what the rules say, test them, judge earlier calls by them, and manage policies");
  const named = (name: string, description: string): Command =>
    commandsOption(workspaceOption(policy.command(name).description(description)), "; judged as by such a server")
      .option("--home <dir>", "the home assumed for ~ and the user's rules")
      .option("--intent <id>", "the intent assumed to be selected; without one, intents are ignored")
      .option("--policy <file>", "a policy that is tried beside those in force; it need not belong to root")
      .option("--json", "print JSON");
  named("check", "say what all rules make of a command or a file; nothing runs without --run")
    .argument("[command]", "a shell command")
    .option("--read <path>", "of reading this file")
    .option("--write <path>", "of writing this file")
    .option(
      "--run",
      "really run the command on a copy, with no network except allowed hosts, and judge what it did; nothing is kept",
    )
    .option("--allow <host:port>", "with --run: let it reach this host and port; repeatable", collect)
    .option("--jsonl", "of each {id, tool, input} in the input, one a line; answers one a line")
    .addHelpText("after", checkHelp)
    .action(runs(async () => (await import("./policy-commands.ts")).policyCheckCommand));
  named("test", "run the examples (match, notMatch) in the rule files").action(
    runs(async () => (await import("./policy-commands.ts")).policyTestCommand),
  );
  const log = policy
    .command("log")
    .description("list what the rules stopped or asked about (the damage-control log), oldest first");
  workspaceOption(log)
    .option("--session <id>", "of one session only")
    .option("--json", "print one JSON object a line: {tool, input, rule, action} and where it stands")
    .action(runs(async () => (await import("./policy-log-command.ts")).policyLogCommand));
  named("replay", "judge the calls in the ledger by today's rules and show what would differ").action(
    runs(async () => (await import("./policy-commands.ts")).policyReplayCommand),
  );
  policy
    .command("show")
    .description("show the policies that limit what may be done, or why only reading is permitted")
    .option("--json", "print JSON")
    .action(runs(async () => (await import("./policy-limits-commands.ts")).policyShowCommand));
  policy
    .command("fetch")
    .description("put a signed policy of a server in the place of the one that was fetched before")
    .requiredOption("--url <url>", "where it is; https")
    .requiredOption("--key <pem>", "the Ed25519 public key that it must be signed by")
    .requiredOption("--to <dir>", "root's directory of policies: fetched.yaml in it is replaced")
    .addHelpText("after", fetchHelp)
    .action(runs(async () => (await import("./policy-limits-commands.ts")).policyFetchCommand));
  policy
    .command("sign")
    .description("sign a policy for the users of a team")
    .argument("<file>", "the policy as JSON or YAML, without a signature")
    .requiredOption("--key <pem>", "Ed25519 private key; openssl genpkey -algorithm ed25519 makes one")
    .addHelpText("after", signHelp)
    .action(runs(async () => (await import("./policy-limits-commands.ts")).policySignCommand));
}

const fetchHelp = `
For root's own timer, where files cannot be rolled out otherwise; servers never fetch. The address gives what gennai policy sign
prints. It must be signed by the key, in its time, and have a higher serial than the one before; else that one stays in force.

`;

const signHelp = `
Example of a policy:
  {"gennai_policy": 1, "name": "interns", "serial": 1, "capabilities": ["read", "propose", "write"],
   "issued": "2026-01-01T00:00:00Z", "expires": "2027-01-01T00:00:00Z"}
Capabilities: read, propose, write, execute, network, high_impact.
The signed policy goes to standard output. It belongs to ~/.config/gennai/policy.json, and the public key, as
openssl pkey -in KEY -pubout prints it, to ~/.config/gennai/policy.pub.
`;

const checkHelp = `
First stands deny, ask, allow, or staged: it runs on a copy without a question, and what it changes is judged before it is kept.

Exit codes: 0 it would run, and all it did with --run would be kept; 3 something would ask or be refused; 1 it could not be
run with --run; 2 the command line is wrong. With --jsonl the answers tell, and the code is 0.
`;
