import type { Command } from "commander";
import type { CommandHost } from "../command-host.ts";
import { workspaceOption } from "../options/shared-options.ts";
import type { GuardFlags } from "./guard-commands.ts";

/** Commands about other agents, whose calls the gate judges. */
export function registerGuardCommands(program: Command, { console, ended }: CommandHost): void {
  const guard = program
    .command("guard")
    .description("the same rules, questions and ledger for other agents: claude-code, codex, opencode, pi")
    .addHelpText("after", help);
  const place = (name: string, description: string): Command =>
    workspaceOption(guard.command(name).description(description)).option(
      "--user",
      "in your own settings, for all projects, in place of this project's",
    );
  place("install", "put a hook into the agent's settings, by its own documented way, beside those that are there")
    .argument("<agent>", "or all")
    .action(async (agent: string, flags: GuardFlags) => {
      const { guardInstallCommand } = await import("./guard-commands.ts");
      ended(await guardInstallCommand(agent, flags, console));
    });
  place("uninstall", "take it away; what was there before is there again")
    .argument("<agent>", "or all")
    .action(async (agent: string, flags: GuardFlags) => {
      const { guardUninstallCommand } = await import("./guard-commands.ts");
      ended(await guardUninstallCommand(agent, flags, console));
    });
  workspaceOption(
    guard.command("status").description("show which agents are guarded here, and what their hooks cannot do"),
  )
    .option("--json", "print JSON")
    .action(async (flags: GuardFlags) => {
      const { guardStatusCommand } = await import("./guard-commands.ts");
      ended(await guardStatusCommand(flags, console));
    });
  workspaceOption(guard.command("doctor").description("try whether a call of the agent would be judged"))
    .argument("<agent>", "or all")
    .action(async (agent: string, flags: GuardFlags) => {
      const { guardDoctorCommand } = await import("./guard-commands.ts");
      ended(await guardDoctorCommand(agent, flags, console));
    });
  guard
    .command("hook")
    .description("what the agent starts for each call: reads it, asks the server, prints the answer")
    .argument("<agent>")
    .action(async (agent: string) => {
      const [{ guardHookCommand }, { guardedHostNamed }] = await Promise.all([
        import("./guard-hook-command.ts"),
        import("./guarded-agents.ts"),
      ]);
      ended(await guardHookCommand(guardedHostNamed(agent), console));
    });
}

const help = `
The agent goes on to run its tools itself; before each call its hook asks the gate of a running server:
  gennai guard install claude-code    in this project
  gennai serve                        without a server, reads go on and nothing is changed
  gennai guard doctor claude-code     does it work?
  gennai ledger show                  what it did, with the agent's name
A rule that denies is told to the agent with its reason; a rule that asks becomes the agent's own question, or a refusal where the agent cannot ask; what no rule
minds goes the agent's own way. gennai emergency holds for it as well. Commands are not staged, as ours are.
`;
