import { adviceForPeople } from "@gennai/protocol/errors/advice-for-people";
import { isRecord, parsedJson } from "@gennai/protocol/json-value";

/** What became of a call, as people read it. */
export interface ResultForPeople {
  /** Empty: it succeeded. */
  readonly error: string;
  /** What the person can do about it; empty: nothing is known. */
  readonly advice: string;
  readonly output: string;
}

/**
 * The model is told of a refusal or failure in JSON, with a hint that is meant for it: people read the same in sentences. Only Gennai's own
 * words become advice; a hint stays in the output, since a tool of somebody else could have printed all of this.
 */
export function resultForPeople({
  error,
  output,
}: {
  readonly error: string;
  readonly output: string;
}): ResultForPeople {
  const told = error === "" ? undefined : parsedJson(output);
  const inner = isRecord(told) ? told["error"] : undefined;
  if (!isRecord(inner) || typeof inner["code"] !== "string") return { error, advice: "", output };
  const { code, hint, detail } = inner;
  const advice = adviceForPeople({ code }) ?? "";
  const texts = [advice === "" ? hint : "", detail].filter((text) => typeof text === "string" && text !== "");
  return { error, advice, output: texts.join("\n") };
}
