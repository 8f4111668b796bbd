import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { knownPrograms } from "@gennai/governance/programs/known-programs";
import { withoutLogins } from "./without-logins.ts";

/** The user's own settings of package managers, below the home, and of XML what is shown. */
const places = knownPrograms.flatMap(({ settings = "", shownSettings: elements }) =>
  (settings.match(/\S+/g) ?? []).map((place) => ({ place, elements })),
);

const maxBytes = 256 * 1024;

/** The user's settings of package managers, e.g. registries, without logins. Files that cannot be read are left out. */
export function homeSettings(home: string): readonly { readonly path: string; readonly text: string }[] {
  return places.flatMap(({ place, elements }) => {
    const path = join(home, place);
    const bytes = bytesOf(path);
    if (bytes === undefined) return [];
    const text = Buffer.from(withoutLogins(path, bytes, { isRegistry: true, elements }) ?? bytes).toString();
    return [{ path, text: text.replace(comments, "").replace(queries, "") }];
  });
}

/** What an owner put aside may be a login, without a word that says so. */
const comments = /^[ \t]*[#;].*(?:\n|$)/gm;
/** Some registries take a login there. */
const queries = /(?<=:\/\/[^\s"'?]*)\?[^\s"']*/g;

function bytesOf(path: string): Uint8Array | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size <= maxBytes ? readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
}
