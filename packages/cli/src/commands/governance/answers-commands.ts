import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { parseEndpoint } from "@gennai/governance/network/endpoint";
import { runProgram } from "@gennai/governance/network/run-program";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { AcceptedConnections } from "@gennai/sessions/rules/accepted-connections";
import { StandingAnswers } from "@gennai/sessions/rules/standing-answers";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { actRecorder } from "../options/act-recorder.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";

export interface AnswersFlags {
  readonly workspace?: string;
  readonly json?: boolean;
}

/** `gennai answers list` */
export async function answersListCommand(flags: AnswersFlags, console: Console): Promise<ExitCode> {
  const { stateDir, workspaceRoot } = await placeOf(flags, console);
  const answers = await new StandingAnswers(stateDir, workspaceRoot).list();
  if (flags.json === true) console.output.write(`${JSON.stringify({ answers })}\n`);
  else if (answers.length === 0)
    console.output.write("There are no lasting answers here: every question is asked again.\n");
  for (const { id, statement, acceptedAt } of flags.json === true ? [] : answers) {
    console.output.write(`${id}  ${spelledOut(statement)}  (since ${spelledOut(acceptedAt.slice(0, 10))})\n`);
  }
  return exitCode.ok;
}

/** `gennai answers revoke`. Throws `CliError` for an unknown id. */
export async function answersRevokeCommand(
  id: string | undefined,
  flags: AnswersFlags & { readonly all?: boolean },
  console: Console,
): Promise<ExitCode> {
  if ((id === undefined) === (flags.all !== true)) {
    throw usageError("The command takes one id, or --all.", "gennai answers list shows the ids.");
  }
  const { stateDir, workspaceRoot } = await placeOf(flags, console);
  const revoked = await new StandingAnswers(stateDir, workspaceRoot).revoke(id, (statements) =>
    actRecorder(workspaceRoot, console)({ answers_revoked: statements }),
  );
  if (id !== undefined && revoked.length === 0) {
    throw usageError(`No lasting answer here has the id ${id}.`, "gennai answers list");
  }
  if (flags.json === true) console.output.write(`${JSON.stringify({ revoked })}\n`);
  else if (revoked.length === 0) console.output.write("There was no lasting answer here.\n");
  else for (const { statement } of revoked) console.output.write(`asks again: ${spelledOut(statement)}\n`);
  return exitCode.ok;
}

/** `gennai answers allow`. Throws `CliError` for a program that is asked about each time, and for what is not a host and port. */
export async function answersAllowCommand(
  program: string,
  hosts: readonly string[],
  flags: AnswersFlags,
  console: Console,
): Promise<ExitCode> {
  const { stateDir, workspaceRoot } = await placeOf(flags, console);
  const { name, lasting } = runProgram(
    analyseCommand(program, { cwd: workspaceRoot, home: workspaceRoot, workspace: workspaceRoot }),
  );
  if (!lasting) {
    throw usageError(
      `${program} is asked about each time.`,
      'Name a program whose verb says what it does, e.g. "npm install" or "git fetch".',
    );
  }
  const connections = hosts.map((text) => {
    const endpoint = parseEndpoint(text);
    if (endpoint === undefined)
      throw usageError(`${text} is not a host and port.`, "Write it as HOST:PORT, e.g. registry.npmjs.org:443.");
    return { ...endpoint, callId: "" };
  });
  const statements = hosts.map((host) => `${name} reaches ${host}`);
  await actRecorder(workspaceRoot, console)({ answers_allowed: statements });
  await new AcceptedConnections(stateDir, workspaceRoot).remember(name, connections);
  if (flags.json === true) console.output.write(`${JSON.stringify({ program: name, allowed: hosts })}\n`);
  else
    console.output.write(`${spelledOut(name)} reaches ${hosts.map(spelledOut).join(", ")} without a question here.\n`);
  return exitCode.ok;
}

async function placeOf(flags: AnswersFlags, console: Console) {
  const workspaceRoot = await resolveWorkspace(flags.workspace, console);
  return { stateDir: defaultStateDir(console.environment), workspaceRoot };
}
