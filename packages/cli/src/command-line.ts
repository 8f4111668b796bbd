import { backends, verbosities } from "@gennai/client/settings";
import { type AdmissionLimits, defaultLimits } from "@gennai/server/admission/limits";
import { Command, CommanderError } from "commander";
import type { DoctorFlags } from "./commands/doctor/doctor-command.ts";
import { addGovernanceCommands } from "./commands/governance/register-governance-commands.ts";
import type { IntentsFlags } from "./commands/intents/intents-commands.ts";
import type { LedgerFlags } from "./commands/ledger/ledger-commands.ts";
import { addPlanCommands } from "./commands/plan/register-plan-commands.ts";
import { policyCommands } from "./commands/policy/register-policy-commands.ts";
import type { RunFlags } from "./commands/run/run-options.ts";
import type { OpenFlags } from "./commands/serve/open-command.ts";
import type { ServeFlags } from "./commands/serve/serve-command.ts";
import type { OneSessionFlags } from "./commands/sessions/session-commands.ts";
import type { SessionsFlags } from "./commands/sessions/sessions-commands.ts";
import type { CopyFlags } from "./commands/sessions/sessions-copies.ts";
import type { UndoFlags } from "./commands/sessions/undo-command.ts";
import { asCliError } from "./errors/cli-error.ts";
import { exitCode } from "./errors/exit-code.ts";
import { doctorHelp, exitCodesHelp, ledgerHelp, mainHelp, runHelp, serveHelp } from "./help-texts.ts";
import { type Console, paintFor } from "./terminal/console.ts";
import { terminalSafe } from "./terminal/terminal-safe.ts";
import { version } from "./version.ts";

/** Runs a command line, without the program's name, and gives the exit code. Never rejects. */
export async function runCommandLine(args: readonly string[], console: Console): Promise<number> {
  let code: number = exitCode.ok;
  try {
    const program = buildProgram(console, (ended) => (code = ended));
    await program.parseAsync(withCommand(args), { from: "user" });
    return code;
  } catch (error) {
    // Commander has said already what is wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.usage;
    const { message, next, exitCode: failed } = asCliError(error);
    const paint = paintFor(console.errors, console.environment);
    console.errors.write(`${paint("red", "error:")} ${terminalSafe(message)}\n`);
    for (const step of next) console.errors.write(`  ${terminalSafe(step)}\n`);
    if (console.environment["GENNAI_DEBUG"] === "1" && error instanceof Error) console.errors.write(`${error.stack}\n`);
    return failed;
  }
}

/** No command is `serve`, and so is the older form `gennai --serve`. */
function withCommand(args: readonly string[]): string[] {
  const [first] = args;
  const isHelp = first === "-h" || first === "--help" || first === "-V" || first === "--version";
  if (isHelp || (first !== undefined && !first.startsWith("-"))) return [...args];
  return ["serve", ...args.filter((arg) => arg !== "--serve")];
}

function buildProgram(console: Console, ended: (code: number) => void): Command {
  const program = new Command("gennai")
    .description("Gennai, the governed coding agent: the model proposes, the server governs, the editor acts.")
    .version(version, "-V, --version")
    .option("--serve", "the same as the command serve")
    .configureOutput({
      writeOut: (text) => void console.output.write(text),
      writeErr: (text) => void console.errors.write(text),
    })
    .exitOverride()
    .showHelpAfterError("(gennai --help shows what there is)")
    .addHelpText("after", mainHelp + exitCodesHelp);

  const serve = program
    .command("serve")
    .description("start a server, for editors and for gennai run (the default command)");
  model(protect(serve))
    .option("--port <number>", "port to listen on; 0 takes any free one", "7777")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option(
      "--rina-port <number>",
      "second port, for the RinaWarp extension; on 127.0.0.1 and without a token, e.g. 8787",
    )
    .option(
      "--log <address>",
      "log that several servers share, e.g. nats://a:4222,b:4222,c:4222 (default: this machine)",
    )
    .option("--workspace <dir>", "directory of sessions that name none (default: here)")
    .option("--auth-token", "print the token once at start-up")
    .option("--auth-token-file <file>", "use the token in this file (0600) instead of a fresh one")
    .option("--auth <how>", "token: one token, yours; oidc: a token for each of many users (default: token)")
    .option("--no-auth", "ask no token of anyone on this machine")
    .option("--sandbox <when>", sandboxHelp, "auto")
    .option(
      "--allow-origin <origin>",
      "web page that may use this server, e.g. https://app.example; repeatable",
      collect,
    )
    .option("--allow-host <host>", "another value of Host to answer to, e.g. box.lan:7777; repeatable", collect)
    .option("--open", "open the page in a browser")
    .option("--metrics <address>", "serve metrics for Prometheus there, e.g. 9464, or 0.0.0.0:9464 for other machines")
    .option("--log-format <format>", "text: for people; json: an object a line, for machines", "text")
    .option("--log-level <level>", "debug, info, warn or error: what is less is left out", "info")
    .option("--drain <seconds>", "on SIGTERM, how long turns under way may go on before they are stopped", "0");
  securityOptions(serve)
    .addHelpText("after", serveHelp)
    .action(async (flags: ServeFlags) => {
      const { serveCommand } = await import("./commands/serve/serve-command.ts");
      ended(await serveCommand(flags, console));
    });

  doctorCommands(program, console, ended);

  program
    .command("open")
    .description("print a fresh link to the page of a running server")
    .option("--workspace <dir>", "of the server that works there (default: here, else the newest)")
    .option("--port <number>", "of the server on this port")
    .option("--browser", "open it in a browser as well")
    .option("--close-all", "instead: shut out every page that is open")
    .option("--server <url>", "of this server, with a token of yours")
    .option("--auth-token-file <file>", "the token for --server")
    .action(async (flags: OpenFlags) => {
      const { openCommand } = await import("./commands/serve/open-command.ts");
      ended(await openCommand(flags, console));
    });

  model(protect(server(program.command("run").description("do one thing, or many at a prompt"))))
    .argument("[request]", "what shall be done; without it, a prompt asks")
    .option("--workspace <dir>", "directory to work in (default: here)")
    .option("--scenario <name>", "how to go about it, e.g. CODE, EDITOR_CODE, RESPOND (default: by the mode)")
    .option(
      "--mode <mode>",
      "branch: write on a feature branch; proposal: show changes and apply what you keep; plan: approve a plan first",
    )
    .option("--branch <name>", "name of the branch (default: ai-agent/ and words of the request)")
    .option("--worktree", "work in a git working tree of its own, beside the repository, so that sessions do not meet")
    .option("--yes", "answer yes to all questions but those of high risk, and keep all that is proposed")
    .option("--ask", "ask even when the input is no terminal")
    .option("--keep <hunk>", "proposal: keep only this, e.g. src/a.ts#2 or src/a.ts; repeatable", collect)
    .option("--refuse <hunk>", "proposal: keep all but this; repeatable", collect)
    .option("--sandbox <when>", `${sandboxHelp}; of an own server`, "auto")
    .option("--session <id>", "go on with this session")
    .option("--intent <id>", "the intent to work under; `gennai intents list` shows them")
    .option("--verbosity <how>", `how much the agent writes: ${verbosities.join(", ")}; it changes no permission`)
    .option("--max-iterations <number>", "model calls a turn may take")
    .option("--max-turn-tokens <number>", "tokens in and out that a turn may take; what would exceed it is not sent")
    .option("--max-session-tokens <number>", "the same for the session, over all of its turns; 0: no limit")
    .option("--max-cost <amount>", "what the session may cost, by the prices in your models.json; 0: no limit")
    .option("--max-context-tokens <number>", "tokens the model can take, where it does not say so itself")
    .option("--no-thinking", "do not ask the model for its thinking")
    .option("--json", 'print every event as a line of JSON, and a closing {"result":…}')
    .addHelpText("after", runHelp)
    .action(async (request: string | undefined, flags: RunFlags) => {
      const { runCommand } = await import("./commands/run/run-command.ts");
      ended(await runCommand(request, flags, console));
    });

  server(
    program
      .command("undo")
      .description("take back the newest change set of the workspace, or more with --turn or --to"),
  )
    .argument("[paths...]", "with --turn or --to: only these files or directories")
    .option("--workspace <dir>", "the workspace (default: here)")
    .option("--session <id>", "of this session")
    .option("--list", "show to which points one can go back")
    .option("--turn <number>", "all that was done since before this turn, by commands too")
    .option("--to <checkpoint>", "all that was done since this checkpoint")
    .option("--dry-run", "only say what would be done")
    .option("--force", "restore the named files also where somebody else changed them since")
    .option("--json", "print what was done as JSON")
    .action(async (paths: string[], flags: UndoFlags) => {
      const { undoCommand } = await import("./commands/sessions/undo-command.ts");
      ended(await undoCommand(paths, flags, console));
    });

  const sessions = server(
    program.command("sessions").description("list the sessions of the workspace, newest first; rename or fork one"),
  )
    .option("--workspace <dir>", "the workspace (default: here)")
    .option("--all", "of every workspace")
    .option("--json", "one JSON object a line")
    .action(async (flags: SessionsFlags) => {
      const { sessionsCommand } = await import("./commands/sessions/sessions-commands.ts");
      ended(await sessionsCommand(flags, console));
    });
  addSessionCommands(sessions, console, ended);

  const ledger = program
    .command("ledger")
    .description("check, mend and show the workspace's signed record of what was done");
  const ledgerCommands = [
    ["verify", "check signatures and chain", "ledgerVerifyCommand"],
    ["repair", "write it anew from the store, or cut a torn last line; keeps a copy", "ledgerRepairCommand"],
    ["show", "show the last records", "ledgerShowCommand"],
    ["rotate-key", "sign with a new key from now on, and hand every ledger over to it", "ledgerRotateKeyCommand"],
  ] as const;
  for (const [name, description, run] of ledgerCommands) {
    const command = ledger
      .command(name)
      .description(description)
      .option("--workspace <dir>", "the workspace (default: here)")
      .option("--json", "print JSON")
      .action(async (flags: LedgerFlags) => {
        const commands = await import("./commands/ledger/ledger-commands.ts");
        ended(await commands[run](flags, console));
      });
    if (name === "verify")
      command
        .option("--public-key <file>", "check as a third party, by this key alone")
        .option("--bundle <file>", "check an exported bundle, offline")
        .addHelpText("after", ledgerHelp);
    if (name === "show") command.option("--limit <number>", "how many", "20");
  }
  addLedgerCopies(ledger, console, ended);
  const intents = intentsCommands(program, console, ended);
  addGovernanceCommands(program, console, ended);
  addPlanCommands(program, console, ended);
  const policy = policyCommands(program, console, ended);
  for (const command of [...program.commands, ...ledger.commands, ...intents.commands, ...policy.commands]) {
    command.exitOverride();
  }
  return program;
}

const sandboxHelp = "keep commands apart from the machine and the network: auto, required (or do not start), off";

function addSessionCommands(sessions: Command, console: Console, ended: (code: number) => void): void {
  // Options of the list may stand before the word too, and are the same for all.
  const flagsOf = (command: Command): OneSessionFlags => command.optsWithGlobals();
  sessions
    .command("rename")
    .description("give a session a title")
    .argument("<id>", "the session")
    .argument("<title>", "one line of at most 200 characters")
    .exitOverride()
    .action(async (id: string, title: string, _flags: object, command: Command) => {
      const { sessionsRenameCommand } = await import("./commands/sessions/session-commands.ts");
      ended(await sessionsRenameCommand(id, title, flagsOf(command), console));
    });
  sessions
    .command("export")
    .description("write a session into one file: what was said, redacted once more; without what undo needs")
    .argument("<id>", "the session")
    .option("--out <file>", "a new file (default: standard output)")
    .exitOverride()
    .action(async (id: string, _flags: object, command: Command) => {
      const { sessionsExportCommand } = await import("./commands/sessions/sessions-copies.ts");
      ended(await sessionsExportCommand(id, command.optsWithGlobals<CopyFlags>(), console));
    });
  sessions
    .command("import")
    .description("make a new session of such a file; what it claims was decided or approved is not believed")
    .argument("<file>", "what gennai sessions export wrote")
    .exitOverride()
    .action(async (file: string, _flags: object, command: Command) => {
      const { sessionsImportCommand } = await import("./commands/sessions/sessions-copies.ts");
      ended(await sessionsImportCommand(file, command.optsWithGlobals<CopyFlags>(), console));
    });
  sessions
    .command("worktrees")
    .description("list the working trees that gennai run --worktree made")
    .option("--prune", "remove those in which nobody works and nothing is uncommitted; their branches stay")
    .exitOverride()
    .action(async (_flags: object, command: Command) => {
      const { sessionsWorktreesCommand } = await import("./commands/sessions/sessions-copies.ts");
      ended(await sessionsWorktreesCommand(command.optsWithGlobals<CopyFlags>(), console));
    });
  sessions
    .command("fork")
    .description("start a session that begins with the history of another one")
    .argument("<id>", "the other one")
    .exitOverride()
    .action(async (id: string, _flags: object, command: Command) => {
      const { sessionsForkCommand } = await import("./commands/sessions/session-commands.ts");
      ended(await sessionsForkCommand(id, flagsOf(command), console));
    });
}

function addLedgerCopies(ledger: Command, console: Console, ended: (code: number) => void): void {
  ledger
    .command("export")
    .description("write the records out, redacted once more")
    .option("--workspace <dir>", "the workspace (default: here)")
    .option(
      "--format <format>",
      "agent-trace: lines of Agent Trace 0.1.0; bundle: one file with records, sessions and key; seed001: older names",
      "agent-trace",
    )
    .option("--out <file>", "a new file (default: standard output)")
    .action(async (flags: LedgerFlags) => {
      const { ledgerExportCommand } = await import("./commands/ledger/ledger-export-command.ts");
      ended(await ledgerExportCommand(flags, console));
    });
  ledger
    .command("purge")
    .description("forget sessions for good: their log, files, and the content of their records; the chain stays")
    .option("--workspace <dir>", "the workspace (default: here)")
    .option("--session <id>", "only this session (default: all of the workspace)")
    .option("--yes", "do not ask")
    .option("--json", "print JSON")
    .action(async (flags: LedgerFlags) => {
      const { ledgerPurgeCommand } = await import("./commands/ledger/ledger-purge-command.ts");
      ended(await ledgerPurgeCommand(flags, console));
    });
}

function intentsCommands(program: Command, console: Console, ended: (code: number) => void): Command {
  const intents = program.command("intents").description("see and switch what the agent may work on in this workspace");
  const intent = (name: string, description: string): Command =>
    intents
      .command(name)
      .description(description)
      .option("--workspace <dir>", "the workspace (default: here)")
      .option("--json", "print JSON");
  intent("list", "list the intents, and what is wrong with their file").action(async (flags: IntentsFlags) => {
    const { intentsListCommand } = await import("./commands/intents/intents-commands.ts");
    ended(await intentsListCommand(flags, console));
  });
  intent("show", "show an intent whole")
    .argument("<id>", "its id")
    .action(async (id: string, flags: IntentsFlags) => {
      const { intentsShowCommand } = await import("./commands/intents/intents-commands.ts");
      ended(await intentsShowCommand(id, flags, console));
    });
  intent("init", "make a first intents file").action(async (flags: IntentsFlags) => {
    const { intentsInitCommand } = await import("./commands/intents/intents-commands.ts");
    ended(await intentsInitCommand(flags, console));
  });
  intent("accept", "say that you read the intents file as it is now; needed where intents are required").action(
    async (flags: IntentsFlags) => {
      const { intentsAcceptCommand } = await import("./commands/intents/intents-commands.ts");
      ended(await intentsAcceptCommand(flags, console));
    },
  );
  intent("mode", "whether changes need an intent here")
    .argument("[mode]", "auto: where the intents file is, or was; required: always; off: never")
    .action(async (mode: string | undefined, flags: IntentsFlags) => {
      const { intentsModeCommand } = await import("./commands/intents/intents-commands.ts");
      ended(await intentsModeCommand(mode, flags, console));
    });
  return intents;
}

function doctorCommands(program: Command, console: Console, ended: (code: number) => void): void {
  program
    .command("doctor")
    .description("look at this machine, this workspace and its server: what works, what does not, what to do next")
    .option("--workspace <dir>", "the workspace (default: here)")
    .option("--server <url>", "look at this server (default: those that run for the workspace)")
    .option("--auth-token-file <file>", "the token of that server; repeatable, in the order of --compare", collect)
    .option("--log <address>", "look at the log that several servers share, e.g. nats://a:4222,b:4222,c:4222")
    .option("--compare <urls...>", "instead: whether these servers are the same program under the same rules")
    .option("--json", "print JSON")
    .addHelpText("after", doctorHelp)
    .action(async (flags: DoctorFlags) => {
      const { doctorCommand } = await import("./commands/doctor/doctor-command.ts");
      ended(await doctorCommand(flags, console));
    });
}

/** Who gets in, over what, and how much of the server they may take. */
function securityOptions(command: Command): Command {
  return command
    .option("--tls-cert <file>", "PEM: encrypt with this certificate and its chain; SIGHUP reads it again")
    .option("--tls-key <file>", "PEM: its key, in a file (0600)")
    .option("--behind-proxy", "a proxy before this server encrypts; needed with --host where there is no --tls-cert")
    .option("--issuer <url>", "with --auth oidc: who issues the tokens, as it stands in them")
    .option("--audience <name>", "with --auth oidc: what tokens for this server name as theirs; repeatable", collect)
    .option("--jwks <url|file>", "the issuer's public keys (default: where the issuer says they are)")
    .option("--workspace-root <dir>", "users work in DIR/<tenant>/<user>, and nowhere else")
    .option("--user-claim <name>", "where a token names the user (default: sub)")
    .option(
      "--tenant-claim <name>",
      "where a token names the tenant, e.g. org or realm.name (default: one tenant for all)",
    )
    .option("--roles-claim <name>", "where a token lists roles, e.g. realm_access.roles (default: roles)")
    .option("--admin-role <name>", "the role that makes an admin of the tenant (default: nobody is)")
    .option("--max-calls-per-second <n>", limit("of one user", "callsPerSecond"))
    .option("--max-turns-per-user <n>", limit("turns that one user runs at once", "turnsPerUser"))
    .option("--max-turns-per-tenant <n>", limit("turns of one tenant", "turnsPerTenant"))
    .option("--max-turns <n>", limit("turns of all", "turns"))
    .option("--max-sessions-per-user <n>", limit("sessions of one user that are open", "sessionsPerUser"))
    .option("--max-sessions <n>", limit("sessions of all that are open", "sessions"))
    .option("--max-streams-per-user <n>", limit("event streams of one user", "streamsPerUser"))
    .option("--max-tenants <n>", limit("tenants that are open", "tenants"))
    .option(
      "--slow-reader <seconds>",
      `how long a client may take nothing of its stream (default: ${defaultLimits.slowReaderMs / 1000})`,
    );
}

function limit(what: string, name: keyof AdmissionLimits): string {
  return `${what} (default: ${defaultLimits[name]})`;
}

function model(command: Command): Command {
  return command
    .option("--backend <name>", `where the model is: ${backends.join(", ")} (default: offline)`)
    .option("--model <name>", "the model; for scripted, the path of the script")
    .option("--base-url <url>", "of a server that speaks the OpenAI API");
}

function server(command: Command): Command {
  return command
    .option("--server <which>", "auto: a running server of this workspace, else an own one; own; or a URL", "auto")
    .option("--auth-token-file <file>", "the token of the server given by URL")
    .option(
      "--local-files",
      "keep the files here: that server reaches them only through this command (default: where it is on another machine)",
    )
    .option("--no-local-files", "that server has the same files at the same path");
}

function protect(command: Command): Command {
  return command.option(
    "--protect <branch>",
    "further branch the agent must not work on, e.g. 'prod/*'; repeatable",
    collect,
  );
}

/** Repeatable, and one value at a time: a list would swallow the request that follows. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
