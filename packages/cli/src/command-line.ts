import { Command, CommanderError } from "commander";
import { type CommandHost, commandHost } from "./commands/command-host.ts";
import { registerRunCommand } from "./commands/conversation/register-run-command.ts";
import { registerDoctorCommand } from "./commands/doctor/register-doctor-command.ts";
import { registerGovernanceCommands } from "./commands/governance/register-governance-commands.ts";
import { registerGuardCommands } from "./commands/guard/register-guard-commands.ts";
import { registerLedgerCommands } from "./commands/ledger/register-ledger-commands.ts";
import { helpWithExamples } from "./commands/options/examples.ts";
import { registerPlanCommands } from "./commands/plan/register-plan-commands.ts";
import { registerProvenanceCommands } from "./commands/provenance/register-provenance-commands.ts";
import {
  registerAcpCommand,
  registerAttemptsCommands,
  registerBackgroundCommands,
  registerIntentsCommands,
  registerMcpServeCommand,
  registerModelsCommands,
  registerPolicyCommands,
  registerStageCommands,
  registerStorageCommands,
  registerTryCommand,
} from "./commands/register-commands.ts";
import { registerOpenCommand } from "./commands/serve/register-open-command.ts";
import { registerServeCommand } from "./commands/serve/register-serve-command.ts";
import { registerSessionsCommands } from "./commands/sessions/register-sessions-commands.ts";
import { asCliError } from "./terminal/cli-error.ts";
import { paintFor } from "./terminal/colours.ts";
import { asTyped, type Console } from "./terminal/console.ts";
import { exitCode, exitCodesHelp } from "./terminal/exit-code.ts";
import { terminalSafe } from "./terminal/terminal-safe.ts";
import { version } from "./terminal/version.ts";

/** Every family of commands with their names, in the order in which `gennai --help` lists them. */
const families: readonly (readonly [names: string, register: (program: Command, host: CommandHost) => void])[] = [
  ["serve", registerServeCommand],
  ["doctor", registerDoctorCommand],
  ["open", registerOpenCommand],
  ["run", registerRunCommand],
  ["attempts", registerAttemptsCommands],
  ["try", registerTryCommand],
  ["acp", registerAcpCommand],
  ["undo sessions", registerSessionsCommands],
  ["models", registerModelsCommands],
  ["background", registerBackgroundCommands],
  ["stage", registerStageCommands],
  ["storage", registerStorageCommands],
  ["ledger", registerLedgerCommands],
  ["blame report provenance", registerProvenanceCommands],
  ["intents", registerIntentsCommands],
  ["emergency hooks mcp check answers people", registerGovernanceCommands],
  ["mcp", registerMcpServeCommand],
  ["guard", registerGuardCommands],
  ["plan", registerPlanCommands],
  ["policy", registerPolicyCommands],
];

/** Runs a command line, without the program's name, and gives the exit code. Never rejects. */
export async function runCommandLine(args: readonly string[], console: Console): Promise<number> {
  let code: number = exitCode.ok;
  try {
    const words = withCommand(args);
    const program = buildProgram(console, (ended) => (code = ended), words[0]);
    const [first, wanted] = words;
    // For an unknown name, Commander would show the whole help.
    const known = ["help", ...program.commands.map((command) => command.name())];
    if (first === "help" && wanted !== undefined && !known.includes(wanted))
      program.error(`error: unknown command '${wanted}'`);
    await program.parseAsync(words, { from: "user" });
    return code;
  } catch (error) {
    // Commander has already printed what is wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.usage;
    const { message, next, exitCode: failed } = asCliError(error);
    const paint = paintFor(console.errors, console.environment);
    const say = (text: string): string => asTyped(terminalSafe(text), console.environment);
    console.errors.write(`${paint("red", "error:")} ${say(message)}\n`);
    for (const step of next) console.errors.write(`  ${say(step)}\n`);
    if (console.environment["GENNAI_DEBUG"] === "1" && error instanceof Error) console.errors.write(`${error.stack}\n`);
    return failed;
  }
}

/** Without a command it is a conversation, as `run` without a request; `serve` in the older form `gennai --serve`. */
function withCommand(args: readonly string[]): string[] {
  const [first] = args;
  const isHelp = first === "-h" || first === "--help" || first === "-V" || first === "--version";
  if (isHelp || (first !== undefined && !first.startsWith("-"))) return [...args];
  return args.includes("--serve") ? ["serve", ...args.filter((arg) => arg !== "--serve")] : ["run", ...args];
}

/** @param command first word of the line: if it is a command, only that one is declared, because declaring each takes a while */
function buildProgram(console: Console, ended: (code: number) => void, command = ""): Command {
  const host = commandHost(console, ended);
  const program = new Command("gennai")
    .description("Gennai, the governed coding agent: the model proposes, the server governs, the editor acts.")
    .version(version, "-V, --version")
    .option("--serve", "the older form of gennai serve")
    .configureOutput({
      writeOut: (text) => void console.output.write(asTyped(text, console.environment)),
      writeErr: (text) => void console.errors.write(asTyped(text, console.environment)),
    })
    .exitOverride()
    .showHelpAfterError("(gennai --help shows what there is)")
    .configureHelp({ formatHelp: helpWithExamples })
    .addHelpText("after", exitCodesHelp);
  program.hook("preAction", async (_program, chosen) => {
    const options = chosen.opts<Readonly<Record<string, unknown>>>();
    if (!answersAhead.some((name) => options[name] !== undefined)) return;
    const { refuseAhead } = await import("./commands/limits-here.ts");
    await refuseAhead(console);
  });
  const meant = families.filter(([names]) => names.split(" ").includes(command));
  for (const [, register] of meant.length > 0 ? meant : families) register(program, host);
  return program;
}

/** Options, as commander names them, with which nobody is asked. */
const answersAhead = ["yes", "allow", "ciPolicy", "keep"];
