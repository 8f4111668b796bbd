import { timestampDate } from "@bufbuild/protobuf/wkt";
import { answerApproval, approvalQuestion } from "@gennai/client/questions/approvals";
import type { Approval } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { riskFromMessage } from "@gennai/protocol/model/governance/risk";
import { confirmAtTerminal } from "../../client/terminal-confirmation.ts";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { paintFor } from "../../terminal/colours.ts";
import { type Console, isTerminal } from "../../terminal/console.ts";
import { Interrupts } from "../../terminal/interrupts.ts";
import { LineInput } from "../../terminal/line-input.ts";
import { utcTime } from "../../terminal/utc-time.ts";
import { listed, type Said, said } from "../command-host.ts";
import { type WorkspaceServerFlags, workspaceServer } from "../options/workspace-server.ts";

/**
 * `gennai approve`: what waits for a second person, or, with an id, the question itself, for a person at a terminal. Throws `CliError`
 * for an id of nothing that waits.
 */
export async function approveCommand(
  id: string | undefined,
  flags: WorkspaceServerFlags,
  console: Console,
): Promise<Said> {
  await using server = await workspaceServer(flags, console);
  const { signal } = server;
  const { approvals, unanswered } = await server.governance.listApprovals({}, { signal });
  for (const server of unanswered) {
    console.errors.write(`warning: Server ${spelledOut(server)} did not answer: what waits there is not listed.\n`);
  }
  if (id === undefined) {
    const none = "Nothing waits for your agreement.";
    const { text } = listed(approvals, lineOf, none);
    return said({ approvals: approvals.map(rowOf), unanswered }, text);
  }
  const approval = approvals.find(({ question }) => question?.requestId === id);
  if (approval === undefined) {
    throw usageError(`Nothing with the id ${id} waits for you.`, "gennai approve lists them.");
  }
  if (!isTerminal(console.input) || !isTerminal(console.errors)) {
    throw usageError("Only a person at a terminal can agree.", "Run gennai approve in a terminal.");
  }
  using interrupts = new Interrupts();
  using input = new LineInput(console, () => interrupts.interrupt());
  const write = (text: string): void => void console.errors.write(text);
  const paint = paintFor(console.errors, console.environment);
  const reply = await confirmAtTerminal(approvalQuestion(approval), { input, write, paint, signal });
  if (reply.answer === "nobody") throw new CliError("Nothing was answered, so it still waits.", { next: [] });
  await answerApproval(server.governance, approval, reply, { signal });
  return said({ id, answer: reply.answer }, reply.answer === "yes" ? "You agreed.\n" : "You refused.\n");
}

function lineOf(approval: Approval): string {
  const { id, statement, agreedBy, workspace, risk, since } = rowOf(approval);
  const agreed = `${spelledOut(agreedBy)} agreed in ${spelledOut(workspace)}, ${utcTime(since)}`;
  return `${id}  ${spelledOut(statement)}  (risk ${risk}; ${agreed})`;
}

function rowOf({ question, agreedBy, workspace, without, since: agreed }: Approval) {
  const { requestId: id = "", actionStatement: statement = "", actionSha256 = "", computed } = question ?? {};
  const since = agreed === undefined ? "" : timestampDate(agreed).toISOString();
  const [rule, risk] = [computed?.rule ?? "", riskFromMessage(computed?.risk)];
  return { id, statement, rule, risk, agreedBy, workspace, without, since, actionSha256 };
}
