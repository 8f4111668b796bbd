import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { browserNames } from "../../../../scripts/lib/system-packages.mjs";

/** Absolute path of this machine's browser. Throws if there is none. */
export function chromiumProgram(): string {
  const directories = (process.env["PATH"] ?? "").split(delimiter).filter((directory) => directory !== "");
  const paths = browserNames.flatMap((name) => [...directories, "/usr/bin"].map((directory) => join(directory, name)));
  const found = paths.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new Error(`These tests need a browser: install ${browserNames.join(", or ")}, e.g. sudo apt install chromium.`);
}
