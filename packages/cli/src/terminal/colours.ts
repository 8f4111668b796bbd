import { styleText } from "node:util";
import { isAtLeast, type Risk } from "@gennai/protocol/model/governance/risk";
import { isTerminal } from "./console.ts";
import { terminalSafe } from "./terminal-safe.ts";

type Style = Parameters<typeof styleText>[0];

/** Colours a text, or returns it as it is. */
export type Paint = (style: Style, text: string) => string;

/** https://no-color.org: no colours when NO_COLOR is set, on a dumb terminal, or into a file. */
export function paintFor(stream: NodeJS.WritableStream, environment: NodeJS.ProcessEnv): Paint {
  const forced = (environment["FORCE_COLOR"] ?? "0") !== "0";
  const wanted = forced || (isTerminal(stream) && environment["TERM"] !== "dumb");
  if (!wanted || (environment["NO_COLOR"] ?? "") !== "") return (_style, text) => text;
  return (style, text) => (text === "" ? "" : styleText(style, text, { validateStream: false }));
}

/** `high risk` and the like, in a colour. */
export function colouredRisk(risk: Risk, paint: Paint): string {
  return paint(isAtLeast(risk, "high") ? "red" : isAtLeast(risk, "medium") ? "yellow" : "green", `${risk} risk`);
}

/** A unified diff for a person. */
export function colouredDiff(diff: string, paint: Paint): string {
  return diff
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => colouredLine(line, paint))
    .join("\n");
}

/** A line of a unified diff. */
export function colouredLine(line: string, paint: Paint): string {
  const text = terminalSafe(line);
  if (line.startsWith("+++") || line.startsWith("---")) return paint("bold", text);
  if (line.startsWith("@@")) return paint("cyan", text);
  if (line.startsWith("+")) return paint("green", text);
  if (line.startsWith("-")) return paint("red", text);
  return text;
}

/** Colours of a rule's verdicts. */
export const outcomeColours = { allow: "green", staged: "green", ask: "yellow", deny: "red" } as const;
