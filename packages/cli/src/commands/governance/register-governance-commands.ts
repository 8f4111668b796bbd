import type { Command } from "commander";
import type { Console } from "../../terminal/console.ts";
import type { CommandHost } from "../command-host.ts";
import { workspaceCommand } from "../options/shared-options.ts";
import type { EmergencyFlags } from "./emergency-commands.ts";

/** Commands about what governs the agent: emergency controls, hooks, MCP servers, accepted checks. */
export function registerGovernanceCommands(program: Command, host: CommandHost): void {
  registerEmergency(program, host);
  registerHooks(program, host);
  registerMcp(program, host);
  registerCheck(program, host);
  registerAnswers(program, host);
  registerPeople(program, host);
  registerApprove(program, host);
}

function registerEmergency(program: Command, { runs }: CommandHost): void {
  const emergency = program
    .command("emergency")
    .description("switch off at once, for all servers of this user, what the agent may do");
  const add = (name: string, description: string): Command =>
    emergency
      .command(name)
      .description(description)
      .option("--workspace <dir>", "whose ledger gets a record when no server runs (default: here)")
      .option("--json", "print JSON");
  const control = (name: string, description: string): Command =>
    add(name, description)
      .option("--reason <words>", "why; recorded")
      .option("--by <name>", "who; recorded (default: your user name)");

  add("status", "show what is switched off, by whom and why").action(
    runs(async () => (await import("./emergency-commands.ts")).emergencyStatusCommand),
  );
  const switches = [
    ["read-only", "forbid every change and command"],
    ["disable-high-impact", "refuse actions of high risk without a question"],
    ["stop-all", "end all running work, and let no turn start"],
  ] as const;
  for (const [name, description] of switches) {
    control(name, description)
      .argument("<on|off>")
      .action(runs(async () => (await import("./emergency-commands.ts")).emergencySwitchCommand.bind(undefined, name)));
  }
  for (const [name, state, description] of [
    ["block", "on", "refuse a tool, a program, an MCP server (mcp__name), or the group deploy"],
    ["unblock", "off", "no longer refuse it"],
  ] as const) {
    control(name, description)
      .argument("<tool>")
      .action(
        runs(async () => {
          const { emergencySwitchCommand } = await import("./emergency-commands.ts");
          return (tool: string, flags: EmergencyFlags, console: Console) =>
            emergencySwitchCommand("block-tool", state, { ...flags, tool }, console);
        }),
      );
  }
}

function registerHooks(program: Command, { runs }: CommandHost): void {
  const group = program.command("hooks").description("show and trust your own programs that judge every tool call");
  const add = (name: string, description: string): Command => workspaceCommand(group, name, description);
  add("show", "show which hooks run here").action(
    runs(async () => (await import("./hooks-commands.ts")).hooksShowCommand),
  );
  add("trust", "let the workspace's .gennai/hooks.json run as it is now").action(
    runs(async () => (await import("./hooks-commands.ts")).hooksTrustCommand),
  );
}

function registerMcp(program: Command, { runs }: CommandHost): void {
  const group = program
    .command("mcp")
    .description("list and accept MCP servers, log in at them, or serve tools by MCP")
    .addHelpText("after", mcpHelp);
  const add = (name: string, description: string): Command => workspaceCommand(group, name, description);
  add("list", "show which servers there are, and which of them start").action(
    runs(async () => (await import("./mcp-commands.ts")).mcpListCommand),
  );
  add("accept <server>", "accept a server of the workspace's .mcp.json as it is written now, so that it starts").action(
    runs(async () => (await import("./mcp-commands.ts")).mcpAcceptCommand),
  );
  add("login <server>", "log in at a server behind an address (OAuth), with a browser here or elsewhere")
    .option("--scope <scopes>", "what to log in for, where the server wants more (default: its own choice)")
    .action(runs(async () => (await import("./mcp-commands.ts")).mcpLoginCommand));
  add("logout <server>", "revoke a login, and forget it").action(
    runs(async () => (await import("./mcp-commands.ts")).mcpLogoutCommand),
  );
}

function registerCheck(program: Command, { runs }: CommandHost): void {
  const group = program
    .command("check")
    .description("list or revoke the project's own checks that run without a question");
  const add = (name: string, description: string): Command => workspaceCommand(group, name, description);
  add("list", "show which checks of this workspace were accepted for all sessions").action(
    runs(async () => (await import("./check-commands.ts")).checkListCommand),
  );
  add("revoke", "ask again about every check of this workspace").action(
    runs(async () => (await import("./check-commands.ts")).checkRevokeCommand),
  );
}

function registerAnswers(program: Command, { runs }: CommandHost): void {
  const group = program
    .command("answers")
    .description("list, revoke or give lasting answers: what runs or reaches the network without a question");
  const add = (name: string, description: string): Command => workspaceCommand(group, name, description);
  add("list", "show all lasting answers, and which of your logins commands used").action(
    runs(async () => (await import("./answers-commands.ts")).answersListCommand),
  );
  add("revoke [id]", "revoke an answer; it is asked about again from now on")
    .option("--all", "all of them")
    .action(runs(async () => (await import("./answers-commands.ts")).answersRevokeCommand));
  add(
    "allow <program> <host...>",
    'answer ahead what a program may reach: allow "npm install" registry.npmjs.org:443',
  ).action(runs(async () => (await import("./answers-commands.ts")).answersAllowCommand));
}

function registerApprove(program: Command, { runs }: CommandHost): void {
  program
    .command("approve [id]")
    .description("list what waits for you as the second person, or answer it: for approvers of a server")
    .requiredOption("--server <url>", "the server of many users")
    .option("--auth-token-file <file>", "your token")
    .option("--json", "print JSON")
    .action(runs(async () => (await import("./approve-command.ts")).approveCommand));
}

function registerPeople(program: Command, { runs }: CommandHost): void {
  const group = program.command("people").description("the people who may answer questions elsewhere, by a link");
  group
    .command("list")
    .description("show who is asked, by what ways")
    .action(runs(async () => (await import("./people-commands.ts")).peopleListCommand));
  group
    .command("pin <name>")
    .description("print a new PIN, without which that person's links open nothing; the one before ends")
    .action(runs(async () => (await import("./people-commands.ts")).peoplePinCommand));
}

const mcpHelp = `
Your own servers stand in ~/.config/gennai/mcp.json, those of a repository in its .mcp.json:
  {"mcpServers": {"files": {"command": "mcp-server-filesystem", "args": ["."], "readOnly": ["read_file"]},
                  "docs":  {"url": "https://docs.example.org/mcp", "headers": {"Authorization": "Bearer \${DOCS_TOKEN}"}}}}
In your own file, "allow" names tools that run without a question while their description stays as you accepted it, and
"readOnly" tools that change nothing. Scenarios choose servers by mcp:<name> or mcp:*.
`;
