import { readFile } from "node:fs/promises";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { parseEndpoint } from "@gennai/governance/endpoint";
import { runProgram } from "@gennai/governance/network/run-program";
import { ifMissing } from "@gennai/machine/system-error";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { listOf, parsedJson, recordOf, textOf } from "@gennai/protocol/json-value";
import { StandingAnswers } from "@gennai/sessions/rules/standing-answers";
import { AcceptedConnections } from "@gennai/sessions/rules/workspace-answers";
import { WorkspaceLedger } from "@gennai/store/audit/workspace-ledger";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { linesOf, listed, type Said, said } from "../command-host.ts";
import { actRecorder } from "../options/act-recorder.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";

/** `gennai answers list`; and which of the user's logins commands used here, as the ledger says. */
export async function answersListCommand(flags: WorkspaceFlags, console: Console): Promise<Said> {
  const place = await placeHere(flags, console);
  const [answers, ledger] = await Promise.all([
    new StandingAnswers(place.stateDir, place.workspaceRoot).list(),
    readFile(new WorkspaceLedger(place).file, "utf8").catch(ifMissing("")),
  ]);
  const logins = usedLogins(ledger);
  const text = linesOf(
    answers,
    ({ id, statement, acceptedAt }) =>
      `${id}  ${spelledOut(statement)}  (since ${spelledOut(acceptedAt.slice(0, 10))})`,
    "There are no lasting answers here: every question is asked again.",
  );
  const used = logins.map(
    ({ login, at, count, last }) =>
      `used: ${spelledOut(login)} at ${spelledOut(at)}, ${count === 1 ? "once" : `${count} times`}, last on ${spelledOut(last.slice(0, 10))}\n`,
  );
  return said({ answers, logins }, `${text}${used.join("")}`);
}

interface UsedLogin {
  readonly login: string;
  /** `HOST:PORT`. */
  readonly at: string;
  /** Of connections. */
  count: number;
  /** RFC 3339. */
  last: string;
}

function usedLogins(ledger: string): readonly UsedLogin[] {
  const used = new Map<string, UsedLogin>();
  for (const line of ledger.split("\n")) {
    if (!line.includes('"login"')) continue;
    const { timestamp, metadata } = recordOf(parsedJson(line));
    for (const connection of listOf(recordOf(metadata)["calls"]).flatMap((call) =>
      listOf(recordOf(call)["connections"]),
    )) {
      const { login, state, host, port, count } = recordOf(connection);
      if (typeof login !== "string" || state !== "allowed") continue;
      const at = `${textOf(host)}:${String(port)}`;
      const known = used.get(`${login} ${at}`) ?? { login, at, count: 0, last: "" };
      known.count += Number(count);
      known.last = textOf(timestamp);
      used.set(`${login} ${at}`, known);
    }
  }
  return [...used.values()];
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
