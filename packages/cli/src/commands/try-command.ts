import { shellWords } from "@gennai/governance/command/shell-words";
import type { OfferContext } from "../review/offered-changes.ts";
import { personsNetworkHere } from "../review/persons-network-here.ts";
import { checkedSeconds, type TryFlags, tryStaged } from "../review/try-staged.ts";
import type { Console } from "../terminal/console.ts";
import { untilEnded } from "../terminal/until-ended.ts";
import { resolveWorkspace } from "./options/resolve-workspace.ts";

/**
 * `gennai try`: runs a person's own command on a stage, shows what it changed, and keeps what that person wants.
 * @returns the command's own exit code, if it has one and every question could be asked
 */
export function tryCommand(words: readonly string[], flags: TryFlags, console: Console): Promise<number> {
  const left = "Ended; nothing was kept, the workspace is as before.";
  return untilEnded(console, left, (place) => tried(words, flags, { console, ...place }));
}

async function tried(words: readonly string[], flags: TryFlags, place: OfferContext): Promise<number> {
  const seconds = checkedSeconds(flags);
  const network = personsNetworkHere(flags, place);
  const command = words.length === 1 ? (words[0] ?? "") : shellWords(words);
  const workspace = await resolveWorkspace(flags.workspace, place.console);
  return tryStaged({ command, seconds, network, workspace }, flags, place);
}
