import { spelledOut } from "@gennai/protocol/hidden-characters";
import { checkStatement } from "@gennai/sessions/rules/standing-answers";
import { AcceptedChecks } from "@gennai/sessions/rules/workspace-answers";
import type { Console } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { listed, type Said, said } from "../command-host.ts";
import { actRecorder } from "../options/act-recorder.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";

/** `gennai check list` */
export async function checkListCommand(flags: WorkspaceFlags, console: Console): Promise<Said> {
  const { stateDir, workspaceRoot } = await placeHere(flags, console);
  const accepted = await new AcceptedChecks(stateDir, workspaceRoot).list();
  const { text } = listed(
    accepted,
    ({ command, source, acceptedAt, actionSha256 }) =>
      `${spelledOut(command)}\n  from ${terminalSafe(source)}, accepted ${terminalSafe(acceptedAt.slice(0, 10))}` +
      ` as it was then: SHA-256 ${actionSha256.slice(0, 12)}…`,
    "No check runs here without a question. A question about one offers to accept it.",
  );
  return said({ accepted }, text);
}

/** `gennai check revoke` */
export async function checkRevokeCommand(flags: WorkspaceFlags, console: Console): Promise<Said> {
  const { stateDir, workspaceRoot } = await placeHere(flags, console);
  const checks = new AcceptedChecks(stateDir, workspaceRoot);
  const statements = (await checks.list()).map(checkStatement);
  if (statements.length > 0) await actRecorder(workspaceRoot, console)({ answers_revoked: statements });
  const revoked = await checks.revoke();
  const line = ({ command }: (typeof revoked)[number]) => `asks again: ${spelledOut(command)}`;
  return said({ revoked }, listed(revoked, line, "Nothing was accepted here.").text);
}
