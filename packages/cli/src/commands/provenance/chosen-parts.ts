import { type SharedPart, sharedParts, usualParts } from "@gennai/store/provenance/sharing/shared-parts";
import { usageError } from "../../errors/cli-error.ts";

/** A report is for those who decide here: it names who said yes, unless chosen otherwise. */
export const reportParts: readonly SharedPart[] = [...usualParts, "people"];

/** Which parts of a write go along. Throws `CliError` for a name that is none. */
export function partsOf(include: string | undefined, usual: readonly SharedPart[]): ReadonlySet<SharedPart> {
  if (include === undefined) return new Set(usual);
  const names = include
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "none");
  const known = names.map((name) => {
    const part = sharedParts.find((each) => each === name);
    if (part === undefined) {
      throw usageError(`There is no part ${JSON.stringify(name)}.`, `Choose of ${sharedParts.join(", ")}, or none.`);
    }
    return part;
  });
  return new Set(known);
}
