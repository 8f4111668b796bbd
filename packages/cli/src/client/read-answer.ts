import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import { offeredAnswers } from "@gennai/client/questions/offered-answers";

/**
 * What a typed line means. Anything but a clear yes denies; words after `n` are the reason. `t2` and `s2` say yes for the
 * second pattern that was offered; `r` keeps what nobody had to be asked about.
 */
export function readAnswer(line: string | undefined, question: ConfirmationQuestion): ConfirmationReply {
  if (line === undefined) return { answer: "nobody", reason: "The question was left without an answer." };
  const text = line.trim();
  const word = text.toLowerCase();
  const [, letter = "", number = ""] = /^([ts])([1-9])$/.exec(word) ?? [];
  const pattern = question.patterns?.[Number(number) - 1]?.id ?? "";
  const wanted = number === "" ? ids.get(word) : `${ids.get(letter)}:${pattern}`;
  const offered = offeredAnswers(question).find(({ id }) => id === wanted);
  if (offered !== undefined) return offered.reply;
  const no = /^(?:no?)(?:[\s:,]+(.*))?$/is.exec(text);
  if (no !== null) return { answer: "no", reason: (no[1] ?? "").trim() };
  return { answer: "no", reason: ids.has(word) ? "" : text };
}

const ids: ReadonlyMap<string, string> = new Map([
  ["y", "once"],
  ["yes", "once"],
  ["t", "turn"],
  ["s", "session"],
  ["w", "workspace"],
  ["r", "rest"],
  ["rest", "rest"],
]);
