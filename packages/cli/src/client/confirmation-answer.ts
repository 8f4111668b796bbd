import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";

/** Who answers when the server asks. */
export type AnswerPolicy =
  /** A person at this terminal. */
  | "ask"
  /** `--yes`: everything but high risk. */
  | "yes"
  /** No terminal and no `--yes`. */
  | "nobody";

/** The answer a policy gives by itself; undefined: a person must be asked. */
export function answerByPolicy(
  policy: AnswerPolicy,
  question: Pick<ConfirmationQuestion, "computed">,
): ConfirmationReply | undefined {
  if (policy === "ask") return undefined;
  if (policy === "nobody") {
    return { answer: "nobody", reason: "Nobody could be asked: there is no terminal, and --yes was not given." };
  }
  if (!isAtLeast(question.computed.risk, "high")) return { answer: "yes", scope: "once" };
  const reason = question.computed.reason === "" ? "" : `: ${question.computed.reason}`;
  return { answer: "nobody", reason: `--yes does not approve actions of high risk${reason}` };
}
