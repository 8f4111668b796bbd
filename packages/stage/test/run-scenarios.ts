// Run as a program, by the user that `as-users.ts` says: runs scenarios of a file by their names, and prints what happened to each.
import { pathToFileURL } from "node:url";

/** By name; one that throws has failed. */
export type Scenarios = Readonly<Record<string, () => void | Promise<void>>>;

const [file = "", ...names] = process.argv.slice(2);
const { scenarios }: { readonly scenarios: Scenarios } = await import(pathToFileURL(file).href);
for (const name of names) {
  let failure: string | null = null;
  try {
    await scenarios[name]?.();
  } catch (error) {
    failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  process.stdout.write(`${JSON.stringify({ name, failure })}\n`);
}
