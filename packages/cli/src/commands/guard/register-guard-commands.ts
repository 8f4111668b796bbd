import type { Command } from "commander";
import type { Console } from "../../terminal/console.ts";
import type { CommandHost } from "../command-host.ts";
import { collect, workspaceOption } from "../options/shared-options.ts";

/** Commands about other agents, whose calls the gate judges. */
export function registerGuardCommands(program: Command, { runs }: CommandHost): void {
  const guard = program
    .command("guard")
    .description(
      "guard other agents by the same rules, questions and ledger: claude-code, codex, copilot, gemini, opencode, pi",
    )
    .addHelpText("after", help);
  const place = (name: string, description: string): Command =>
    workspaceOption(guard.command(name).description(description))
      .option("--user", "in your own settings, for all projects, in place of this project's")
      .option("--managed", "as root, for all users of this machine; claude-code and codex");
  place("install", "add a hook to the agent's settings, in its documented way; other hooks stay")
    .argument("<agent>", "or all: those whose program or directory is on this machine")
    .action(runs(async () => (await import("./guard-commands.ts")).guardInstallCommand));
  place("uninstall", "remove the hook; the settings are as before")
    .argument("<agent>", "or all")
    .action(runs(async () => (await import("./guard-commands.ts")).guardUninstallCommand));
  workspaceOption(
    guard.command("status").description("show which agents are guarded here, and what their hooks cannot do"),
  )
    .argument("[agent]", "only this one")
    .option("--json", "print JSON")
    .action(runs(async () => (await import("./guard-commands.ts")).guardStatusCommand));
  workspaceOption(guard.command("doctor").description("try whether a call of the agent would be judged"))
    .argument("<agent>", "or all: those on this machine, and those that are guarded")
    .action(runs(async () => (await import("./guard-commands.ts")).guardDoctorCommand));
  workspaceOption(
    guard
      .command("run")
      .description("run an agent on a copy, see what its session would change, and keep what you want")
      .argument("<agent...>", "the agent and its arguments, behind --"),
  )
    .option("--keep", "do not ask at the end: keep what no rule asks about or refuses, except what git ignores")
    .option("--include <path>", "with --keep: this as well, named as in the list, e.g. dist; repeatable", collect)
    .option("--drop", "do not ask at the end: keep nothing")
    .option(
      "--allow <host:port>",
      "let it reach this without a question, instead of its usual host; repeatable",
      collect,
    )
    .option("--login", "give it its login without a question")
    .option("--ask", "ask even when the input is no terminal")
    .option("--timeout <seconds>", "until it is ended", "3600")
    .option("--json", "print JSON; what the agent prints is in it")
    .addHelpText("after", runHelp)
    .action(runs(async () => (await import("./guard-run-command.ts")).guardRunCommand));
  guard
    .command("hook")
    .description("judge one call: the agent's hook starts this, with the call in its input")
    .argument("<agent>")
    .action(
      runs(async () => {
        const [{ guardHookCommand }, { guardedHostNamed }] = await Promise.all([
          import("./guard-hook-command.ts"),
          import("./guarded-agents.ts"),
        ]);
        return (agent: string, _flags: object, console: Console) => guardHookCommand(guardedHostNamed(agent), console);
      }),
    );
}

const runHelp = `
The agent's whole session runs over a copy of the workspace, with files of secrets hidden. It needs no hook and no server, and has no terminal: give
it its task on the command line. What it writes into its own configuration is thrown away when it ends. After one question it reaches the host of its
models with its login, and nothing else. At the end everything that it changed is shown and judged, as with gennai try. gennai emergency stop-all on
ends it, and nothing is kept.

Exit codes: the agent's own; 1 when it did not end by itself, 2 for a wrong call, 3 when there was nobody to ask or it was refused, 130 and 143 when you
ended it.
`;

const help = `
The agent goes on to run its tools itself; before each call its hook asks the gate of a running server:
  gennai guard install claude-code    in this project
  gennai serve                        without a server, reads go on and nothing is changed
  gennai guard doctor claude-code     does it work?
  gennai ledger show                  what it did, with the agent's name
A rule that denies is told to the agent with its reason; a rule that asks becomes the agent's own question, or a refusal where the agent cannot ask; what no rule
minds goes the agent's own way. gennai emergency holds for it as well. Commands are not staged, as ours are.
`;
