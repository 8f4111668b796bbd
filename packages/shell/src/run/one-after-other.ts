import { hash } from "node:crypto";
import type { CommandRun } from "@gennai/machine/process/run-command";

/** Two runs as one: what both printed, and how the second ended. The digest is that of both digests. */
export function oneAfterOther(first: CommandRun, second: CommandRun): CommandRun {
  return {
    ...second,
    output: `${first.output}${second.output}`,
    encoding: first.encoding === second.encoding ? first.encoding : "unknown",
    outputSha256: hash("sha256", `${first.outputSha256}${second.outputSha256}`),
    leftOut: first.leftOut + second.leftOut,
    survivors: [...first.survivors, ...second.survivors],
  };
}
