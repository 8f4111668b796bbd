import type { Command } from "commander";
import type { CommandHost } from "./command-host.ts";
import {
  collect,
  commandsOption,
  modelOptions,
  protectOption,
  serverOptions,
  workspaceCommand,
  workspaceOption,
} from "./options/shared-options.ts";

/** `gennai attempts …`: the results of `gennai run --attempts`. */
export function registerAttemptsCommands(program: Command, { runs }: CommandHost): void {
  const attempts = program.command("attempts").description("list, look at and take what gennai run --attempts made");
  const ofOption = "of these attempts (default: the newest of the workspace)";
  workspaceCommand(
    attempts,
    "list",
    "list the prompts that were tried, newest first, and their attempts, best first",
  ).action(runs(async () => (await import("./attempts-commands.ts")).attemptsListCommand));
  workspaceCommand(attempts, "show", "show what an attempt changed, what it said, and the end of its check")
    .argument("<number>", "the attempt")
    .option("--of <id>", ofOption)
    .action(runs(async () => (await import("./attempts-commands.ts")).attemptsShowCommand));
  workspaceCommand(
    attempts,
    "take",
    "review what an attempt changed, hunk by hunk, and put what you keep into the workspace; gennai undo undoes it",
  )
    .argument("<number>", "the attempt")
    .option("--of <id>", ofOption)
    .option("--yes", "do not ask: keep all")
    .option("--keep <hunk>", "keep only this, e.g. src/a.ts#2 or src/a.ts; repeatable", collect)
    .option("--refuse <hunk>", "keep all but this; repeatable", collect)
    .option("--ask", "ask even when the input is no terminal")
    .action(runs(async () => (await import("./attempts-commands.ts")).attemptsTakeCommand));
  workspaceCommand(attempts, "drop", "delete attempts; they are deleted automatically after fourteen days")
    .argument("[id]", "of the list (default: all of the workspace)")
    .action(runs(async () => (await import("./attempts-commands.ts")).attemptsDropCommand));
}

/** `gennai try`: a person's own command, of which nothing is kept unless the person says so. */
export function registerTryCommand(program: Command, { runs }: CommandHost): void {
  workspaceOption(
    program
      .command("try")
      .description("run a command on a copy, see what it would change, and keep all, some, or nothing of it")
      .argument("<command...>", "one shell command in quotes, or a program and its arguments behind --"),
  )
    .option("--keep", "do not ask: keep what no rule asks about or refuses, except what git ignores")
    .option("--include <path>", "with --keep: this as well, named as in the list, e.g. dist; repeatable", collect)
    .option("--drop", "do not ask: keep nothing")
    .option("--allow <host:port>", "let it reach this without a question; repeatable", collect)
    .option("--ask", "ask even when the input is no terminal")
    .option("--timeout <seconds>", "until it is ended", "600")
    .option("--json", "print JSON; what the command prints is in it")
    .addHelpText("after", tryHelp)
    .action(runs(async () => (await import("./try-command.ts")).tryCommand));
}

const tryHelp = `
It runs over a copy of the workspace, without your home and with files of secrets hidden; it has no input. It has no network:
what it wants to reach is refused, you are asked, and after a yes it runs again from the beginning, with that host and port and
no other. --allow says yes ahead, gennai answers allow for every such command; what was reached is in the ledger. Logins of yours
are not there.
What it changed is listed with what the rules say of it. Keep "all" of it (except what rules refuse), "rest" (except what they ask
about and what git ignores, too), changes by their numbers, or review it by "hunks"; whatever you keep is written together and is in the
ledger; gennai undo --kept undoes it. A directory that git ignores (node_modules, dist) is one change. Nothing of a command that
was ended is kept.

--json prints one object: state (exited, timed-out, aborted, too-much-output, over-limit), exitCode, output (1 MiB of it),
leftOut (bytes), connections, notes, verdict, changes ({id, needs, name, what, verdict, rule, reason, ignored}), neverKept, diff, kept and
keptInPart (names).

Exit codes: the command's own; 1 when it did not end by itself, 2 for a wrong call, 3 when there was nobody to ask, so that
nothing was kept, 130 and 143 when you ended it.
`;

export function registerAcpCommand(program: Command, { runs }: CommandHost): void {
  const command = program
    .command("acp")
    .description("serve an editor that speaks the Agent Client Protocol (Zed, JetBrains, Neovim) and starts this");
  command.option(
    "--set-key <provider>",
    "ask for a provider's key, and keep it in the keychain: an editor starts this in a terminal",
  );
  commandsOption(serverOptions(protectOption(modelOptions(command))))
    .addHelpText("after", acpHelp)
    .action(runs(async () => (await import("./acp-command.ts")).acpCommand));
}

const acpHelp = `
An editor speaks with it over standard input and output, so there is nothing to see at a terminal. In the editor's settings:
  command: gennai     arguments: acp
With --set-key anthropic it only asks for that key, for the keychain of the system. A key in the environment comes first:
GENNAI_API_KEY, ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY. A server that runs takes a new key at its next start.
Rules, questions and the ledger are those of every other session; its questions are asked in the editor.
`;

/** `gennai models` and `gennai models try`. */
export function registerModelsCommands(program: Command, { runs }: CommandHost): void {
  const models = program
    .command("models")
    .description("list the models there are, with size, price and abilities: the catalogue's, Ollama's, your server's")
    .addHelpText("after", modelsHelp);
  workspaceOption(serverOptions(models))
    .option("--backend <name>", "of this provider alone")
    .option("--base-url <url>", "of this server; alone: one that speaks the OpenAI API")
    .option("--json", "one JSON object a model, one a line")
    .action(runs(async () => (await import("./models-commands.ts")).modelsCommand));
  // Options of the list may come before the subcommand too, and mean the same for both.
  models
    .command("try")
    .description("ask a model for one word: whether key, address and model work, and how long it takes")
    .argument("<model>", "as the list names it")
    .action(runs(async () => (await import("./models-commands.ts")).modelsTryCommand));
}

const modelsHelp = `
A trial is one small real request, and costs what that costs.`;

/** `gennai background …`: the servers and watchers that the agent started. */
export function registerBackgroundCommands(program: Command, { runs }: CommandHost): void {
  const background = program
    .command("background")
    .description("list, read and stop servers and watchers that the agent started, and open their ports")
    .addHelpText("after", backgroundHelp);
  const command = (name: string, description: string): Command =>
    workspaceOption(serverOptions(background.command(name).description(description))).option(
      "--session <id>",
      "of this session (default: of all of the workspace; the newest one that has it)",
    );
  command("list", "list what runs, and what ended recently")
    .option("--json", "one JSON object a line")
    .action(runs(async () => (await import("./background-commands.ts")).backgroundListCommand));
  command("logs", "show what a background command printed recently")
    .argument("<id>", "e.g. b1")
    .option("--follow", "go on until it ends, or Ctrl+C")
    .action(runs(async () => (await import("./background-commands.ts")).backgroundLogsCommand));
  command("stop", "end a background command")
    .argument("<id>", "e.g. b1")
    .action(runs(async () => (await import("./background-commands.ts")).backgroundStopCommand));
  command("open", "let programs of the server's machine reach its port, until it ends")
    .argument("<id>", "e.g. b1")
    .argument("<port>", "the port on which it listens")
    .option("--port <number>", "on 127.0.0.1 (default: any free one)")
    .action(runs(async () => (await import("./background-commands.ts")).backgroundOpenCommand));
}

const backgroundHelp = `
What runs in the background has no network but that of its session. An open port leads your browser to code of the agent's;
what a page of it does there, your browser does.`;

/** `gennai stage …`: files that git ignores, that a session's commands made, and that the workspace does not have. */
export function registerStageCommands(program: Command, { runs }: CommandHost): void {
  const stage = program
    .command("stage")
    .description("list, keep or drop ignored files that commands made (builds, dependencies)");
  const command = (name: string, description: string): Command =>
    serverOptions(workspaceCommand(stage, name, description)).option(
      "--session <id>",
      "of this session (default: the newest of the workspace that has any)",
    );
  command("list", "list these files by tree: number, bytes, a digest, and the command that made them last").action(
    runs(async () => (await import("./stage-commands.ts")).stageListCommand),
  );
  command("keep", "put such trees into the workspace, where rules allow it: programs here will run what is in them")
    .argument("<paths...>", "trees of the list, e.g. dist")
    .option("--yes", "do not ask")
    .action(runs(async () => (await import("./stage-commands.ts")).stageKeepCommand));
  command("drop", "drop such trees: later commands of the session see what the workspace has")
    .argument("[paths...]", "trees of the list (default: all)")
    .action(runs(async () => (await import("./stage-commands.ts")).stageDropCommand));
}

/** `gennai storage …`: what the state directory takes. */
export function registerStorageCommands(program: Command, { runs }: CommandHost): void {
  const storage = program
    .command("storage")
    .description("show what Gennai keeps on this disk, and free what can be made again");
  storage
    .command("show", { isDefault: true })
    .description("show how much is taken, by what it is for, and the bound")
    .option("--json", "print JSON")
    .action(runs(async () => (await import("./storage-commands.ts")).storageShowCommand));
  storage
    .command("free")
    .description("remove all builds and dependencies of sessions that no command uses now: they can be made again")
    .option("--json", "print JSON")
    .action(runs(async () => (await import("./storage-commands.ts")).storageFreeCommand));
}

export function registerIntentsCommands(program: Command, { runs }: CommandHost): void {
  const intents = program
    .command("intents")
    .description("list and switch intents: what the agent may work on in this workspace");
  const intent = (name: string, description: string): Command => workspaceCommand(intents, name, description);
  intent("list", "list the intents, and what is wrong with their file").action(
    runs(async () => (await import("./intents-commands.ts")).intentsListCommand),
  );
  intent("show", "show an intent in full")
    .argument("<id>", "the intent, as the list names it")
    .action(runs(async () => (await import("./intents-commands.ts")).intentsShowCommand));
  intent("init", "make an example of an intents file").action(
    runs(async () => (await import("./intents-commands.ts")).intentsInitCommand),
  );
  intent("accept", "accept the intents file as it is now; needed in mode required").action(
    runs(async () => (await import("./intents-commands.ts")).intentsAcceptCommand),
  );
  intent("mode", "show or set whether changes need an intent here")
    .argument("[mode]", "auto: where the intents file is, or was; required: always; off: never")
    .action(runs(async () => (await import("./intents-commands.ts")).intentsModeCommand));
}

/** Beside the other commands of `gennai mcp`, which are registered before. */
export function registerMcpServeCommand(program: Command, { runs }: CommandHost): void {
  const group = program.commands.find((command) => command.name() === "mcp") ?? program.command("mcp");
  const command = group
    .command("serve")
    .description("serve our tools to an agent that speaks the Model Context Protocol and starts this");
  commandsOption(serverOptions(protectOption(workspaceOption(command))))
    .option("--branch <name>", "the branch to work on (default: a new one if a protected branch is checked out)")
    .addHelpText("after", mcpServeHelp)
    .action(runs(async () => (await import("./mcp-serve-command.ts")).mcpServeCommand));
}

const mcpServeHelp = `
An agent speaks with it over standard input and output, so there is nothing to see at a terminal. In the agent's settings:
  command: gennai     arguments: mcp serve --workspace /path/to/the/project
Its tools are Read, Edit, Write, Bash and the rest, behind the same rules, questions and ledger as every session; a question is asked by the agent, where it
has elicitation, and is a no elsewhere. Switch the agent's own tools off: what they do comes past no rule.
`;

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
