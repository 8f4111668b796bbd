// Run as a program, by the user that `asUser` says: runs the scenarios of a file, and prints what happened to each.
import { pathToFileURL } from "node:url";

/** By name; one that throws has failed. */
export type Scenarios = Readonly<Record<string, () => void | Promise<void>>>;

const [file = ""] = process.argv.slice(2);
const { scenarios }: { readonly scenarios: Scenarios } = await import(pathToFileURL(file).href);
for (const [name, scenario] of Object.entries(scenarios)) {
  let failure: string | null = null;
  try {
    await scenario();
  } catch (error) {
    failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  process.stdout.write(`${JSON.stringify({ name, failure })}\n`);
}
