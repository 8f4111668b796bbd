import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/host/editor";
import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
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

/**
 * What a typed line means. Anything but a clear yes denies; words after `n` are the reason. `t2` and `s2` say yes for the
 * second pattern that was offered; `r` keeps what nobody had to be asked about.
 *
 * @param more.rest ids of parts that are dropped then; absent where that is not a choice
 */
export function readAnswer(
  line: string | undefined,
  offered: readonly ConfirmationScope[],
  {
    patterns = [],
    rest,
  }: {
    readonly patterns?: readonly { readonly id: string }[];
    readonly rest?: readonly string[] | undefined;
  } = {},
): ConfirmationReply {
  if (line === undefined) return { answer: "nobody", reason: "The question was left without an answer." };
  const text = line.trim();
  const scope = scopes.get(text.toLowerCase());
  if (scope !== undefined && (scope === "once" || offered.includes(scope))) return { answer: "yes", scope };
  if (rest !== undefined && /^r(?:est)?$/i.test(text)) return { answer: "yes", scope: "once", dropped: rest };
  const [, letter = "", number = ""] = /^([ts])([1-9])$/i.exec(text) ?? [];
  const lasting = scopes.get(letter.toLowerCase());
  const pattern = patterns[Number(number) - 1];
  if (lasting !== undefined && pattern !== undefined && offered.includes(lasting)) {
    return { answer: "yes", scope: lasting, pattern: pattern.id };
  }
  const no = /^(?:no?)(?:[\s:,]+(.*))?$/is.exec(text);
  if (no !== null) return { answer: "no", reason: (no[1] ?? "").trim() };
  return { answer: "no", reason: scopes.has(text.toLowerCase()) ? "" : text };
}

const scopes: ReadonlyMap<string, ConfirmationScope> = new Map([
  ["y", "once"],
  ["yes", "once"],
  ["t", "turn"],
  ["s", "session"],
  ["w", "workspace"],
]);
