import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { parseEndpoint } from "@gennai/governance/endpoint";
import { runProgram } from "@gennai/governance/network/run-program";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { StandingAnswers } from "@gennai/sessions/rules/standing-answers";
import { AcceptedConnections } from "@gennai/sessions/rules/workspace-answers";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { listed, type Said, said } from "../command-host.ts";
import { actRecorder } from "../options/act-recorder.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";

/** `gennai answers list` */
export async function answersListCommand(flags: WorkspaceFlags, console: Console): Promise<Said> {
  const { stateDir, workspaceRoot } = await placeHere(flags, console);
  const answers = await new StandingAnswers(stateDir, workspaceRoot).list();
  const { text } = listed(
    answers,
    ({ id, statement, acceptedAt }) =>
      `${id}  ${spelledOut(statement)}  (since ${spelledOut(acceptedAt.slice(0, 10))})`,
    "There are no lasting answers here: every question is asked again.",
  );
  return said({ answers }, text);
}

/** `gennai answers revoke`. Throws `CliError` for an unknown id. */
export async function answersRevokeCommand(
  id: string | undefined,
  flags: WorkspaceFlags & { readonly all?: boolean },
  console: Console,
): Promise<Said> {
  if ((id === undefined) === (flags.all !== true)) {
    throw usageError("The command takes one id, or --all.", "gennai answers list shows the ids.");
  }
  const { stateDir, workspaceRoot } = await placeHere(flags, console);
  const revoked = await new StandingAnswers(stateDir, workspaceRoot).revoke(id, (statements) =>
    actRecorder(workspaceRoot, console)({ answers_revoked: statements }),
  );
  if (id !== undefined && revoked.length === 0) {
    throw usageError(`No lasting answer here has the id ${id}.`, "gennai answers list");
  }
  const line = ({ statement }: (typeof revoked)[number]) => `asks again: ${spelledOut(statement)}`;
  return said({ revoked }, listed(revoked, line, "There was no lasting answer here.").text);
}

/** `gennai answers allow`. Throws `CliError` for a program that is asked about each time, and for what is not a host and port. */
export async function answersAllowCommand(
  program: string,
  hosts: readonly string[],
  flags: WorkspaceFlags,
  console: Console,
): Promise<Said> {
  const { stateDir, workspaceRoot } = await placeHere(flags, console);
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
  const reached = hosts.map(spelledOut).join(", ");
  return said({ program: name, allowed: hosts }, `${spelledOut(name)} reaches ${reached} without a question here.\n`);
}
