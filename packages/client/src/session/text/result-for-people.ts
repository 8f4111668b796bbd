import { adviceForPeople } from "@gennai/protocol/errors/advice-for-people";
import { isRecord, parsedJson } from "@gennai/protocol/json-value";

/** The result of a call, for users. */
export interface ResultForPeople {
  /** Empty: it succeeded. */
  readonly error: string;
  /** What the user can do about it; empty: unknown. */
  readonly advice: string;
  readonly output: string;
}

/**
 * The model gets a refusal or failure as JSON, with a hint for the model; users read the same in sentences. Only Gennai's own
 * text becomes advice; a hint stays in the output, because an external tool could have printed it all.
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
