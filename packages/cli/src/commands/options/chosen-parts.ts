import { usageError } from "../../terminal/cli-error.ts";

/** The chosen ones of all parts. Throws `CliError` for an unknown name. @param include value of `--include` */
export function partsOf<Part extends string>(
  include: string | undefined,
  { all, usual }: { readonly all: readonly Part[]; readonly usual: readonly Part[] },
): ReadonlySet<Part> {
  if (include === undefined) return new Set(usual);
  const names = include
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "none");
  const known = names.map((name) => {
    const part = all.find((each) => each === name);
    if (part === undefined) {
      throw usageError(`There is no part ${JSON.stringify(name)}.`, `Choose from ${all.join(", ")}, or none.`);
    }
    return part;
  });
  return new Set(known);
}
