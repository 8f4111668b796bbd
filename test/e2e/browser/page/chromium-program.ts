import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Absolute path of this machine's browser. Throws if there is none. */
export function chromiumProgram(): string {
  const directories = (process.env["PATH"] ?? "").split(delimiter).filter((directory) => directory !== "");
  const paths = [...directories, "/usr/bin"].flatMap((directory) => names.map((name) => join(directory, name)));
  const found = paths.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new Error(`These tests need a browser: install ${names.join(", or ")}, e.g. sudo apt install chromium.`);
}
